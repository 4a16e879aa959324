#include "documents/problems.hpp"

#include <algorithm>
#include <ranges>

#include <fmt/ranges.h>

#include "base/similar.hpp"
#include "base/text.hpp"

namespace muster::documents {

void Problems::Put(Position at, std::string sentence) {
  const bool tells = Tells(at);
  if (!list_.emplace(at, std::move(sentence)).second || !tells) return;
  first_.insert(std::ranges::upper_bound(first_, at), at);
  if (first_.size() > kMaxProblems) first_.pop_back();
}

std::vector<Problem> Problems::Take(const std::string& file) && {
  std::vector<Problem> problems;
  for (const auto& [at, sentence] : list_) {
    if (problems.size() == kMaxProblems) {
      problems.push_back({file, at, fmt::format("and {} more", list_.size() - kMaxProblems)});
      break;
    }
    problems.push_back({file, at, sentence});
  }
  return problems;
}

std::string_view Nearest(std::string_view word, const std::vector<std::string_view>& known) {
  constexpr std::size_t kLongest = 64;
  constexpr std::size_t kMostKnown = 1'000;
  if (word.size() > kLongest) return {};
  std::string_view best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const auto candidate : known | std::views::take(kMostKnown)) {
    // Not even their lengths are near.
    if (candidate.size() >= word.size() + least) continue;
    const std::size_t distance = Slips(word, candidate, least - 1);
    if (distance >= least || distance >= candidate.size()) continue;
    best = candidate;
    least = distance;
  }
  return best;
}

std::string Suggestion(std::string_view word, const std::vector<std::string_view>& known) {
  constexpr std::size_t kMostNamed = 50;
  if (known.empty()) return "";
  if (const auto nearest = Nearest(word, known); !nearest.empty())
    return fmt::format("; did you mean '{}'?", nearest);
  const auto named = known | std::views::take(kMostNamed);
  return fmt::format("; known are {}{}", fmt::join(named, ", "),
                     known.size() > kMostNamed ? ", …" : "");
}

std::string Either(const std::vector<std::string_view>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

std::string Shortened(std::string_view text, std::size_t most) { return CutLine(text, most); }

}  // namespace muster::documents
