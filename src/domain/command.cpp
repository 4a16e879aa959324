#include "domain/command.hpp"

namespace muster {
namespace {

template <typename T>
bool Same(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) {
  return a && b ? *a == *b : !a && !b;
}

}  // namespace

bool operator==(const Command& a, const Command& b) {
  return a.argv == b.argv && a.script == b.script && a.interpreter == b.interpreter &&
         a.args == b.args && a.stdin_data == b.stdin_data && a.env == b.env && a.masks == b.masks &&
         a.user == b.user && a.folder == b.folder && a.timeout == b.timeout && a.grace == b.grace &&
         a.max_output == b.max_output && a.kill_leftovers == b.kill_leftovers &&
         a.resources == b.resources && Same(a.push, b.push) && Same(a.pull, b.pull) &&
         Same(a.reboot, b.reboot) && a.secrets == b.secrets;
}

}  // namespace muster
