#include "server/keeping/disk_watch.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.hpp"

namespace muster::server {

std::uint64_t DiskFloor::Of(std::uint64_t total) const {
  return std::min(total / 100 * percent, bytes);
}

std::string DiskFloor::Text() const {
  if (bytes == UINT64_MAX) return fmt::format("{}%", percent);
  if (percent >= 100) return FormatSize(bytes);
  return fmt::format("{}%,{}", percent, FormatSize(bytes));
}

Result<DiskFloor> ParseDiskFloor(std::string_view text) {
  DiskFloor floor{.percent = 100, .bytes = UINT64_MAX};
  for (const auto part : Split(text, ',')) {
    const auto word = Trim(part);
    if (word.ends_with('%')) {
      const auto digits = word.substr(0, word.size() - 1);
      const auto [end, problem] =
          std::from_chars(digits.data(), digits.data() + digits.size(), floor.percent);
      if (problem != std::errc{} || end != digits.data() + digits.size() || floor.percent >= 100)
        return Fail(ErrorCode::kInvalid, "'{}' is not a share; write for example 5%", word);
      continue;
    }
    const auto size = ParseSize(word);
    if (!size) return Fail(size.error());
    floor.bytes = *size;
  }
  return floor;
}

bool DiskWatch::See(std::uint64_t free, std::uint64_t total) {
  const std::uint64_t floor = floor_.Of(total);
  const bool low = free < (low_ ? floor + floor / 4 : floor);
  return std::exchange(low_, low) != low;
}

}  // namespace muster::server
