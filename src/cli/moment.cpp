#include "cli/moment.hpp"

#include "cli/output.hpp"

namespace muster::cli {

Result<std::string> Moment(std::string_view option, const std::string& text) {
  if (text.empty() || ParseTime(text)) return text;
  const auto back = ParseDuration(text);
  if (!back)
    return Fail(
        ErrorCode::kInvalid,
        "{}: expected a time like 2026-11-15T10:00:00Z or how long ago, like 2h; found '{}'",
        option, text);
  return FormatTime({WallNow().ms - back->count()});
}

Result<Duration> Lasting(std::string_view option, std::string_view text, Duration least,
                         Duration most) {
  const auto duration = ParseDuration(text);
  if (!duration) return Fail(ErrorCode::kInvalid, "{}: {}", option, duration.error().message);
  if (*duration < least || *duration > most)
    return Fail(ErrorCode::kInvalid, "{}: expected {} to {}, found '{}'", option,
                FormatDuration(least), FormatDuration(most), text);
  return *duration;
}

}  // namespace muster::cli
