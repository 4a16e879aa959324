#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "base/result.hpp"

namespace muster::cli {

// Watches a list that a server gives page by page, so that one without end ends in an error: a
// cursor that comes again, pages that bring nothing, or more pages than any list has.
class PageGuard {
 public:
  static constexpr std::size_t kMostPages = 100'000;
  static constexpr std::size_t kMostEmpty = 1'000;  // one after the other
  static constexpr std::size_t kMostCursor = 4'096;

  // For each page but the last: where the next one begins, and whether this one brought something.
  // kInternal: there is no end to expect.
  Result<> Take(const std::string& next, bool empty);

 private:
  std::set<std::string> seen_;
  std::size_t empty_ = 0;
};

}  // namespace muster::cli
