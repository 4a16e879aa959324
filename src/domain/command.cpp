#include "domain/command.hpp"

namespace muster {
namespace {

template <typename T>
bool Same(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) {
  return a && b ? *a == *b : !a && !b;
}

}  // namespace

Result<> CheckLengths(const Command& command) {
  constexpr std::size_t kMostName = 256;
  constexpr std::size_t kMostPath = 4'096;
  struct Text {
    std::string_view key;
    const std::string& value;
    std::size_t most;
  };
  for (const Text& text :
       {Text{"user", command.user, kMostName}, Text{"folder", command.folder, kMostPath},
        Text{"interpreter", command.interpreter, kMostPath}})
    if (text.value.size() > text.most)
      return Fail(ErrorCode::kInvalid, "{}: it has {} bytes, and may have {}", text.key,
                  text.value.size(), text.most);
  return {};
}

bool operator==(const Command& a, const Command& b) {
  return a.argv == b.argv && a.script == b.script && a.interpreter == b.interpreter &&
         a.args == b.args && a.stdin_data == b.stdin_data && a.env == b.env && a.masks == b.masks &&
         a.user == b.user && a.folder == b.folder && a.timeout == b.timeout && a.grace == b.grace &&
         a.max_output == b.max_output && a.kill_leftovers == b.kill_leftovers &&
         a.resources == b.resources && Same(a.push, b.push) && Same(a.pull, b.pull) &&
         Same(a.reboot, b.reboot) && a.secrets == b.secrets;
}

}  // namespace muster
