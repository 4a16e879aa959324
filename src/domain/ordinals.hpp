#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace muster {

// A set of places in a run's frozen list of targets, kept as ranges: a set of all hosts costs what
// a set of one does.
class Ordinals {
 public:
  using Range = std::pair<std::uint32_t, std::uint32_t>;  // [first, last)

  Ordinals() = default;
  static Ordinals All(std::uint32_t count);  // 0 to count - 1
  static Ordinals Of(const std::vector<std::uint32_t>& sorted);
  // kInvalid unless they are as Ranges() gives them.
  static Result<Ordinals> OfRanges(std::vector<Range> ranges);

  // Cheap when `ordinal` is above all others, as when a set is gathered in order.
  void Insert(std::uint32_t ordinal);
  bool Contains(std::uint32_t ordinal) const noexcept;
  std::uint32_t Count() const noexcept { return count_; }
  bool Empty() const noexcept { return count_ == 0; }
  std::vector<std::uint32_t> List() const;  // ascending
  // Ascending, none empty, neither overlapping nor touching.
  const std::vector<Range>& Ranges() const noexcept { return ranges_; }

  friend bool operator==(const Ordinals&, const Ordinals&) = default;

 private:
  std::vector<Range> ranges_;
  std::uint32_t count_ = 0;
};

Ordinals Union(const Ordinals& a, const Ordinals& b);
Ordinals Difference(const Ordinals& a, const Ordinals& b);
Ordinals Intersection(const Ordinals& a, const Ordinals& b);

}  // namespace muster
