#include "domain/copies_text.hpp"

#include <fmt/format.h>

#include "domain/host_ranges.hpp"

namespace muster {

std::string CopiesText(std::span<const std::string> names) {
  constexpr std::size_t kMostBytes = 1000;
  if (names.empty()) return {};
  return fmt::format("{}: {}",
                     names.size() == 1 ? "1 copy, which takes no work"
                                       : fmt::format("{} copies, which take no work", names.size()),
                     FoldHostNames(names, kMostBytes));
}

std::string CopyReason(const std::string& note) {
  return fmt::format("the host takes no work: {}; see 'muster hosts'",
                     note.empty() ? "it is marked as a copy" : note);
}

}  // namespace muster
