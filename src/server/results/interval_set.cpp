#include "server/results/interval_set.hpp"

#include <iterator>

namespace muster::server {

bool IntervalSet::Contains(std::uint32_t value) const {
  const auto above = ranges_.upper_bound(value);
  return above != ranges_.begin() && value < std::prev(above)->second;
}

void IntervalSet::Insert(std::uint32_t value) {
  if (!Contains(value)) InsertRange(value, value + 1);
}

void IntervalSet::InsertRange(std::uint32_t first, std::uint32_t last) {
  if (first >= last) return;
  count_ += last - first;
  auto above = ranges_.lower_bound(last);
  if (above != ranges_.end() && above->first == last) {
    last = above->second;
    above = ranges_.erase(above);
  }
  if (above != ranges_.begin() && std::prev(above)->second == first)
    std::prev(above)->second = last;
  else
    ranges_.emplace_hint(above, first, last);
}

void IntervalSet::Erase(std::uint32_t value) {
  auto at = ranges_.upper_bound(value);
  if (at == ranges_.begin() || (--at)->second <= value) return;
  --count_;
  const auto [first, last] = *at;
  if (value + 1 < last) ranges_.emplace_hint(std::next(at), value + 1, last);
  if (first < value)
    at->second = value;
  else
    ranges_.erase(at);
}

std::vector<IntervalSet::Range> IntervalSet::Ranges(std::size_t most) const {
  std::vector<Range> list;
  for (auto at = ranges_.begin(); at != ranges_.end() && list.size() < most; ++at)
    list.emplace_back(at->first, at->second);
  return list;
}

}  // namespace muster::server
