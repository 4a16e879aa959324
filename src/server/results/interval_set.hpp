#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace muster::server {

// A set of hosts of a run, by ordinal, that tasks come into and leave one by one in any order.
// Kept as intervals: costs what its holes cost, not what it holds. Every step is O(log intervals).
class IntervalSet {
 public:
  using Range = std::pair<std::uint32_t, std::uint32_t>;  // [first, last)

  void Insert(std::uint32_t value);
  void InsertRange(std::uint32_t first, std::uint32_t last);  // none of [first, last) may be there
  void Erase(std::uint32_t value);
  bool Contains(std::uint32_t value) const;

  bool Empty() const noexcept { return count_ == 0; }
  std::uint32_t Count() const noexcept { return count_; }
  std::uint32_t First() const { return ranges_.begin()->first; }  // not of an empty set
  // Ascending, neither overlapping nor touching; at most the first `most`.
  std::vector<Range> Ranges(std::size_t most) const;

 private:
  std::map<std::uint32_t, std::uint32_t> ranges_;  // first, past the last
  std::uint32_t count_ = 0;
};

}  // namespace muster::server
