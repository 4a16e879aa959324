#include "cli/moment.hpp"

#include "base/instant.hpp"
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

}  // namespace muster::cli
