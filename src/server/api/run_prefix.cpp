#include "server/api/run_prefix.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

namespace muster::server::api {
namespace {

constexpr std::uint64_t kMostRunNumber = (1ULL << kRunNumberBits) - 1;
constexpr std::uint64_t kMostSpace = 0xFFFF;

using NumberRange = std::pair<std::uint64_t, std::uint64_t>;

// Numbers up to `most` whose digits begin so, the largest first.
std::vector<NumberRange> NumbersBeginning(std::string_view digits, std::uint64_t most) {
  if (digits.empty()) return {{1, most}};
  std::vector<NumberRange> ranges;
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (problem != std::errc{} || end != digits.data() + digits.size() || digits.front() == '0')
    return ranges;
  for (std::uint64_t width = 1; number <= most; number *= 10, width *= 10)
    ranges.emplace_back(number, std::min(most, number + (width - 1)));
  std::ranges::reverse(ranges);
  return ranges;
}

}  // namespace

std::vector<RunIdRange> RunIdsBeginning(std::string_view prefix) {
  std::vector<RunIdRange> ids;
  if (!prefix.starts_with('r')) {
    if (prefix.empty()) ids.push_back({RunId(1), MakeRunId(kMostSpace, kMostRunNumber)});
    return ids;
  }
  const std::string_view name = prefix.substr(1);
  if (const auto dot = name.find('.'); dot != std::string_view::npos) {
    const auto spaces = NumbersBeginning(name.substr(0, dot), kMostSpace);
    if (dot == 0 || spaces.empty()) return ids;
    const std::uint64_t space = spaces.back().first;  // as it is written
    for (const auto& [first, last] : NumbersBeginning(name.substr(dot + 1), kMostRunNumber))
      ids.push_back({MakeRunId(space, first), MakeRunId(space, last)});
    return ids;
  }
  for (const auto& [first, last] : NumbersBeginning(name, kMostSpace))
    ids.push_back({MakeRunId(first, 1), MakeRunId(last, kMostRunNumber)});
  for (const auto& [first, last] : NumbersBeginning(name, kMostRunNumber))
    ids.push_back({MakeRunId(0, first), MakeRunId(0, last)});
  return ids;
}

}  // namespace muster::server::api
