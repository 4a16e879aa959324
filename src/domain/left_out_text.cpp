#include "domain/left_out_text.hpp"

#include <fmt/format.h>

#include "domain/host_ranges.hpp"

namespace muster {

std::string MaintainedText(std::span<const std::string> names, const Maintenance& why) {
  constexpr std::size_t kMostBytes = 1000;
  return fmt::format("{} in maintenance: {} ({}: {}{})", names.size(),
                     FoldHostNames(names, kMostBytes), why.by, why.reason,
                     why.until ? ", until " + FormatTime(why.until) : "");
}

std::string NoHostLeftText(const std::string& left_out) {
  return fmt::format("no host is left: {}; to run on them all the same: --include-maintenance",
                     left_out);
}

std::string SomeLeftOutText(const std::string& left_out) {
  return fmt::format("some hosts are left out, and none may be: {}", left_out);
}

}  // namespace muster
