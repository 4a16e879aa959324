#include "domain/ordinals.hpp"

#include <algorithm>
#include <iterator>

namespace muster {
Ordinals Ordinals::All(std::uint32_t count) {
  Ordinals all;
  if (count > 0) all.ranges_.emplace_back(0, count);
  all.count_ = count;
  return all;
}

Ordinals Ordinals::Of(const std::vector<std::uint32_t>& sorted) {
  Ordinals set;
  for (const std::uint32_t ordinal : sorted) set.Insert(ordinal);
  return set;
}

Result<Ordinals> Ordinals::OfRanges(std::vector<Range> ranges) {
  Ordinals set;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto [first, last] = ranges[i];
    if (first >= last || (i > 0 && first <= ranges[i - 1].second))
      return Fail(ErrorCode::kInvalid, "[{}, {}) is no range of ordinals that can follow", first,
                  last);
    set.count_ += last - first;
  }
  set.ranges_ = std::move(ranges);
  return set;
}

void Ordinals::Insert(std::uint32_t ordinal) {
  // The first range that ends at or behind it: the only one that can hold it or grow upwards to it.
  auto at = ranges_.empty() || ranges_.back().second < ordinal
                ? ranges_.end()
                : std::lower_bound(
                      ranges_.begin(), ranges_.end(), ordinal,
                      [](const Range& range, std::uint32_t value) { return range.second < value; });
  if (at != ranges_.end() && at->first <= ordinal && ordinal < at->second) return;
  ++count_;
  if (at != ranges_.end() && at->second == ordinal) {
    ++at->second;
    const auto next = at + 1;
    if (next != ranges_.end() && next->first == at->second) {
      at->second = next->second;
      ranges_.erase(next);
    }
    return;
  }
  if (at != ranges_.end() && at->first == ordinal + 1) {
    --at->first;
    return;
  }
  ranges_.insert(at, {ordinal, ordinal + 1});
}

bool Ordinals::Contains(std::uint32_t ordinal) const noexcept {
  const auto at = std::upper_bound(
      ranges_.begin(), ranges_.end(), ordinal,
      [](std::uint32_t value, const Range& range) { return value < range.second; });
  return at != ranges_.end() && at->first <= ordinal;
}

std::vector<std::uint32_t> Ordinals::List() const {
  std::vector<std::uint32_t> list;
  list.reserve(count_);
  for (const auto& [first, last] : ranges_)
    for (std::uint32_t i = first; i < last; ++i) list.push_back(i);
  return list;
}

Ordinals Union(const Ordinals& a, const Ordinals& b) {
  const auto left = a.List();
  const auto right = b.List();
  std::vector<std::uint32_t> both;
  both.reserve(left.size() + right.size());
  std::ranges::set_union(left, right, std::back_inserter(both));
  return Ordinals::Of(both);
}

Ordinals Difference(const Ordinals& a, const Ordinals& b) {
  Ordinals rest;
  for (const std::uint32_t ordinal : a.List())
    if (!b.Contains(ordinal)) rest.Insert(ordinal);
  return rest;
}

Ordinals Intersection(const Ordinals& a, const Ordinals& b) {
  Ordinals common;
  for (const std::uint32_t ordinal : a.List())
    if (b.Contains(ordinal)) common.Insert(ordinal);
  return common;
}

}  // namespace muster
