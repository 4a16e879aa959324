#include "agent/shim/outputs.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/files.hpp"
#include "agent/shim/masker.hpp"
#include "base/result.hpp"
#include "base/text.hpp"
#include "domain/outputs.hpp"

namespace muster::agent {
namespace {

constexpr const char* kNoName =
    "is not name=value, where a name is a letter or '_' and up to 63 letters, digits, '_', '.', "
    "'-'";
constexpr const char* kNotText = "is not UTF-8 text";
constexpr const char* kTooMany = "is past the 256 names that are kept";
constexpr const char* kTooLong = "is past the 64 KB that are kept";

// Without Finish, what may be the beginning of a secret that the bound cut off is held back.
std::string Masked(std::string_view text, bool cut, const std::vector<std::string>& masks) {
  Masker masker(masks);
  std::string masked;
  masker.Feed(text, masked);
  if (!cut) masker.Finish(masked);
  return masked;
}

class Reader {
 public:
  void Take(std::string_view line) {
    ++line_;
    if (line.empty()) return;
    const auto equals = line.find('=');
    const auto name = line.substr(0, equals);
    if (equals == line.npos || !IsOutputName(name)) return LeaveOut(kNoName);
    const auto value = line.substr(equals + 1);
    if (!IsUtf8(value) || value.find('\0') != value.npos) return LeaveOut(kNotText);
    const auto same = std::find_if(outputs_.pairs.begin(), outputs_.pairs.end(),
                                   [&](const auto& pair) { return pair.first == name; });
    const bool known = same != outputs_.pairs.end();
    if (!known && outputs_.pairs.size() == kMaxOutputs) return LeaveOut(kTooMany);
    const std::size_t bytes =
        bytes_ + value.size() - (known ? same->second.size() : 0) + (known ? 0 : name.size());
    if (bytes > kMaxOutputBytes) return LeaveOut(kTooLong);
    bytes_ = bytes;
    if (known)
      same->second = value;
    else
      outputs_.pairs.emplace_back(name, value);
  }

  void CutOff() {
    ++line_;
    LeaveOut(kTooLong);
    open_ended_ = true;
  }

  Outputs Finish() {
    if (left_out_ == 0) return std::move(outputs_);
    outputs_.problem =
        fmt::format("{}{} line{} of $MUSTER_OUTPUT {} left out: line {} {}",
                    open_ended_ ? "at least " : "", left_out_, left_out_ == 1 ? "" : "s",
                    left_out_ == 1 ? "was" : "were", first_left_out_, why_);
    return std::move(outputs_);
  }

 private:
  void LeaveOut(const char* why) {
    if (left_out_++ > 0) return;
    first_left_out_ = line_;
    why_ = why;
  }

  Outputs outputs_;
  std::size_t bytes_ = 0;
  std::size_t line_ = 0;
  std::size_t left_out_ = 0;
  std::size_t first_left_out_ = 0;
  const char* why_ = "";
  bool open_ended_ = false;
};

}  // namespace

Outputs ParseOutputs(std::string_view text, const std::vector<std::string>& masks) {
  const bool cut = text.size() > kMaxOutputBytes;
  const std::string masked = Masked(text.substr(0, kMaxOutputBytes), cut, masks);
  Reader reader;
  for (std::string_view rest = masked; !rest.empty();) {
    const auto line_end = rest.find('\n');
    if (line_end == rest.npos) {
      if (!cut) reader.Take(rest);
      break;
    }
    reader.Take(rest.substr(0, line_end));
    rest.remove_prefix(line_end + 1);
  }
  if (cut) reader.CutOff();
  return reader.Finish();
}

// By its path: a script may have put another file in its place. It need not be a file at all.
Outputs ReadOutputs(const std::string& path, const std::vector<std::string>& masks) {
  const auto file = OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  struct stat status{};
  if (!file || ::fstat(file->Get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size == 0)
    return {};
  std::string text(kMaxOutputBytes + 1, '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = ::read(file->Get(), text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  return ParseOutputs(std::string_view(text).substr(0, have), masks);
}

}  // namespace muster::agent
