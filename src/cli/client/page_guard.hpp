#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "base/result.hpp"

namespace muster::cli {

// Watches a list that a server gives page by page, so that one without end ends in an error: a
// cursor that comes again, pages that bring nothing, or more pages or bytes than any list has.
class PageGuard {
 public:
  static constexpr std::size_t kMostPages = 100'000;
  static constexpr std::size_t kMostEmpty = 1'000;  // one after the other
  static constexpr std::size_t kMostCursor = 4'096;
  static constexpr std::size_t kMostBytes = 256 << 20;

  // For each page but the last: where the next one begins, and whether this one brought something.
  // kInternal: there is no end to expect.
  Result<> Take(const std::string& next, bool empty);
  // For each page of a list that is kept as a whole: its size. kInternal: the list is too large.
  Result<> Keep(std::size_t bytes);

 private:
  std::set<std::string> seen_;
  std::size_t empty_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace muster::cli
