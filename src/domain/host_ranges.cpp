#include "domain/host_ranges.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/ascii.hpp"
#include "base/text.hpp"

namespace muster {
namespace {

// Longer digit runs are text, not numbers: they would not fit 64 bits.
constexpr std::size_t kMaxDigits = 18;

std::size_t DigitsAt(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && IsDigit(text[end])) ++end;
  return end - at;
}

std::uint64_t Number(std::string_view digits) {
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

std::string Padded(std::uint64_t number, std::size_t width) {
  return fmt::format("{:0{}}", number, width);
}

// Neighbouring numbers of one padding: "01" to "03".
struct Stretch {
  std::string first;
  std::string last;
  std::size_t count = 1;

  std::string Text() const { return count == 1 ? first : first + "-" + last; }
};

// `numbers` in natural order and each once.
std::vector<Stretch> Stretches(const std::vector<std::string>& numbers) {
  std::vector<Stretch> out;
  std::unordered_map<std::string, std::size_t> by_next;  // the number a stretch would grow by
  for (const auto& number : numbers) {
    std::size_t at = out.size();
    if (const auto found = by_next.find(number); found != by_next.end()) {
      at = found->second;
      by_next.erase(found);
      out[at].last = number;
      ++out[at].count;
    } else {
      out.push_back({number, number});
    }
    by_next.try_emplace(Padded(Number(number) + 1, out[at].first.size()), at);
  }
  return out;
}

// Names that differ in one number only; `stretches` is empty for a single name.
struct Fold {
  std::string before;
  std::string after;
  std::vector<Stretch> stretches;
};

struct DigitRun {
  std::size_t at;
  std::size_t size;
};

std::vector<DigitRun> DigitRuns(std::string_view name) {
  std::vector<DigitRun> runs;
  for (std::size_t i = 0; i < name.size();) {
    const std::size_t size = DigitsAt(name, i);
    if (size > 0 && size <= kMaxDigits) runs.push_back({i, size});
    i += std::max<std::size_t>(1, size);
  }
  return runs;
}

// Takes out of `names` those that share everything but their `place`-th number from the end.
void FoldOver(std::size_t place, std::vector<std::string>& names, std::vector<Fold>& folds) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> alike;
  std::vector<std::string> rest;
  for (auto& name : names) {
    const auto runs = DigitRuns(name);
    if (runs.size() <= place) {
      rest.push_back(std::move(name));
      continue;
    }
    const auto run = runs[runs.size() - 1 - place];
    alike[{name.substr(0, run.at), name.substr(run.at + run.size)}].push_back(
        name.substr(run.at, run.size));
  }
  for (auto& [around, numbers] : alike) {
    if (numbers.size() == 1) {
      rest.push_back(around.first + numbers.front() + around.second);
      continue;
    }
    std::ranges::sort(numbers, NaturalLess);
    folds.push_back({around.first, around.second, Stretches(numbers)});
  }
  names = std::move(rest);
}

std::vector<Fold> FoldAll(std::vector<std::string> names) {
  std::vector<Fold> folds;
  std::size_t places = 0;
  for (const auto& name : names) places = std::max(places, DigitRuns(name).size());
  for (std::size_t place = 0; place < places && !names.empty(); ++place)
    FoldOver(place, names, folds);
  for (auto& name : names) folds.push_back({std::move(name), "", {}});
  std::ranges::sort(folds, [](const Fold& a, const Fold& b) {
    const auto first = [](const Fold& f) {
      return f.stretches.empty() ? f.before : f.before + f.stretches.front().first + f.after;
    };
    return NaturalLess(first(a), first(b));
  });
  return folds;
}

// One bracket's content, "01-03,07".
Result<std::vector<std::string>> ExpandBracket(std::string_view list, std::size_t most) {
  std::vector<std::string> out;
  for (const auto untrimmed : Split(list, ',')) {
    const auto item = Trim(untrimmed);
    const auto dash = item.find('-');
    const auto low = Trim(item.substr(0, dash));
    const auto high = dash == std::string_view::npos ? low : Trim(item.substr(dash + 1));
    for (const auto bound : {low, high})
      if (bound.empty() || DigitsAt(bound, 0) != bound.size() || bound.size() > kMaxDigits)
        return Fail(ErrorCode::kInvalid,
                    "'[{}]': expected numbers and ranges of them, for example [01-20,30]", list);
    const auto from = Number(low);
    const auto to = Number(high);
    if (from > to)
      return Fail(ErrorCode::kInvalid, "'[{}]': the range {} runs backwards", list, item);
    if (Padded(to, low.size()) != high)
      return Fail(ErrorCode::kInvalid, "'[{}]': both ends of {} must have the same zeros in front",
                  list, item);
    if (to - from >= most - std::min(most, out.size()))
      return Fail(ErrorCode::kInvalid, "'[{}]' means more than {} names", list, most);
    for (auto number = from; number <= to; ++number) out.push_back(Padded(number, low.size()));
  }
  return out;
}

// One name with any number of brackets.
Result<std::vector<std::string>> ExpandName(std::string_view name, std::size_t most) {
  std::vector<std::string> out{""};
  while (!name.empty()) {
    const auto open = name.find_first_of("[]");
    for (auto& begun : out) begun += name.substr(0, open);
    if (open == std::string_view::npos) break;
    const auto close = name.find_first_of("[]", open + 1);
    if (name[open] == ']' || close == std::string_view::npos || name[close] == '[')
      return Fail(ErrorCode::kInvalid, "'{}': a bracket has no partner", name);
    auto numbers = ExpandBracket(name.substr(open + 1, close - open - 1), most);
    if (!numbers) return Fail(numbers.error());
    if (numbers->size() > most / out.size())
      return Fail(ErrorCode::kInvalid, "'{}' means more than {} names", name, most);
    std::vector<std::string> longer;
    longer.reserve(out.size() * numbers->size());
    for (const auto& begun : out)
      for (const auto& number : *numbers) longer.push_back(begun + number);
    out = std::move(longer);
    name.remove_prefix(close + 1);
  }
  return out;
}

std::vector<std::string_view> SplitOutsideBrackets(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') inside = true;
    if (text[i] == ']') inside = false;
    if (text[i] != ',' || inside) continue;
    parts.push_back(text.substr(start, i - start));
    start = i + 1;
  }
  parts.push_back(text.substr(start));
  return parts;
}

}  // namespace

std::string HostsText(std::uint64_t count) {
  return fmt::format("{} {}", count, count == 1 ? "host" : "hosts");
}

bool NaturalLess(std::string_view a, std::string_view b) noexcept {
  std::size_t i = 0;
  std::size_t k = 0;
  while (i < a.size() && k < b.size()) {
    if (!IsDigit(a[i]) || !IsDigit(b[k])) {
      if (a[i] != b[k]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[k]);
      ++i, ++k;
      continue;
    }
    auto left = a.substr(i, DigitsAt(a, i));
    auto right = b.substr(k, DigitsAt(b, k));
    i += left.size();
    k += right.size();
    left.remove_prefix(std::min(left.find_first_not_of('0'), left.size()));
    right.remove_prefix(std::min(right.find_first_not_of('0'), right.size()));
    if (left.size() != right.size()) return left.size() < right.size();
    if (left != right) return left < right;
  }
  if (i < a.size() || k < b.size()) return k < b.size();
  // Equal but for zeros in front: fewer first, so that the order is total.
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

std::string FoldHostNames(std::span<const std::string> names, std::size_t limit) {
  const std::set<std::string> unique(names.begin(), names.end());
  std::size_t left = unique.size();
  std::string out;
  const auto full = [&] { return limit > 0 && out.size() >= limit; };
  for (const auto& fold : FoldAll({unique.begin(), unique.end()})) {
    if (full()) break;
    if (!out.empty()) out += ',';
    out += fold.before;
    if (fold.stretches.empty()) {
      --left;
      continue;
    }
    char separator = '[';
    for (const auto& stretch : fold.stretches) {
      if (separator == ',' && full()) break;
      out += separator;
      out += stretch.Text();
      separator = ',';
      left -= stretch.count;
    }
    out += "]" + fold.after;
  }
  if (left > 0) out += fmt::format(", … (+{} more)", left);
  return out;
}

Result<std::vector<std::string>> ExpandHostRanges(std::string_view text, std::size_t most) {
  std::vector<std::string> out;
  std::unordered_set<std::string> seen;
  for (const auto part : SplitOutsideBrackets(text)) {
    const auto name = Trim(part);
    if (name.empty())
      return Fail(ErrorCode::kInvalid, "'{}': expected a host name on each side of a comma", text);
    auto expanded = ExpandName(name, most);
    if (!expanded) return Fail(expanded.error());
    for (auto& each : *expanded) {
      if (!seen.insert(each).second) continue;
      if (out.size() == most)
        return Fail(ErrorCode::kInvalid, "'{}' means more than {} names", text, most);
      out.push_back(std::move(each));
    }
  }
  return out;
}

}  // namespace muster
