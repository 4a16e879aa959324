#include "server/planning/nesting.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace muster::server {
namespace {

constexpr std::size_t kMostNestingProblems = 20;
constexpr std::size_t kMostWayNames = 12;

// A search in depth that keeps its way in a list: a chain may be longer than the stack is deep.
class NestingSearch {
 public:
  NestingSearch(std::span<const std::string> names, std::size_t deepest, const NamesBelow& below)
      : names_(names), deepest_(deepest), below_(below) {
    for (std::size_t i = 0; i < names.size(); ++i) ranks_.try_emplace(names[i], i);
  }

  Result<std::vector<NestingProblem>> Run() && {
    for (const auto& name : names_) {
      if (Full()) break;
      if (places_.contains(name)) continue;
      if (auto searched = SearchFrom(name); !searched) return Fail(searched.error());
      const Place& place = places_.at(name);
      if (place.height > deepest_ && !Full())
        problems_.push_back({NestingProblem::Kind::kTooDeep, WayDown(name)});
    }
    return std::move(problems_);
  }

 private:
  struct Place {
    bool open = true;  // on the way
    std::vector<std::string> below;
    std::size_t next = 0;  // of those below
    std::size_t height = 0;
    const std::string* deepest = nullptr;  // of those below
  };
  using Places = std::map<std::string, Place, std::less<>>;

  bool Full() const { return problems_.size() >= kMostNestingProblems; }

  Result<> Enter(const std::string& name) {
    auto below = below_(name);
    if (!below) return Fail(below.error());
    const auto place = places_.try_emplace(name).first;
    place->second.below = std::move(*below);
    way_.push_back(place);
    return {};
  }

  Result<> SearchFrom(const std::string& name) {
    if (auto entered = Enter(name); !entered) return entered;
    while (!way_.empty() && !Full()) {
      Place& place = way_.back()->second;
      if (place.next == place.below.size()) {
        Leave();
        continue;
      }
      const std::string& next = place.below[place.next++];
      const auto known = places_.find(next);
      if (known == places_.end()) {
        if (auto entered = Enter(next); !entered) return entered;
      } else if (known->second.open) {
        AddCircle(known);
      } else {
        Rise(place, known);
      }
    }
    way_.clear();
    return {};
  }

  void Leave() {
    const auto done = way_.back();
    done->second.open = false;
    way_.pop_back();
    if (!way_.empty()) Rise(way_.back()->second, done);
  }

  static void Rise(Place& above, Places::const_iterator below) {
    if (below->second.height < above.height) return;
    above.height = below->second.height + 1;
    above.deepest = &below->first;
  }

  // The part of the way from `first` on. The document that was given first tells of it.
  void AddCircle(Places::iterator first) {
    std::vector<std::string> names;
    const auto begin = std::ranges::find(way_, first);
    for (auto at = begin; at != way_.end(); ++at) names.push_back((*at)->first);
    const auto rank = [&](const std::string& name) {
      const auto found = ranks_.find(name);
      return found == ranks_.end() ? names_.size() : found->second;
    };
    const auto teller = std::ranges::min_element(names, {}, rank);
    if (rank(*teller) == names_.size()) return;  // it was there before
    std::ranges::rotate(names, teller);
    problems_.push_back({NestingProblem::Kind::kCircle, std::move(names)});
  }

  std::vector<std::string> WayDown(const std::string& name) const {
    std::vector<std::string> names;
    for (const std::string* at = &name; at != nullptr; at = places_.at(*at).deepest)
      names.push_back(*at);
    return names;
  }

  std::span<const std::string> names_;
  const std::size_t deepest_;
  const NamesBelow& below_;
  std::map<std::string, std::size_t, std::less<>> ranks_;
  Places places_;
  std::vector<Places::iterator> way_;
  std::vector<NestingProblem> problems_;
};

}  // namespace

Result<std::vector<NestingProblem>> CheckNesting(std::span<const std::string> names,
                                                 std::size_t deepest, const NamesBelow& below) {
  return NestingSearch(names, deepest, below).Run();
}

std::string WayText(std::span<const std::string> way, std::string_view before) {
  std::string text;
  for (std::size_t i = 0; i < way.size() && i < kMostWayNames; ++i)
    text += fmt::format("{}{}{}", i == 0 ? "" : " -> ", before, way[i]);
  return way.size() > kMostWayNames ? text + " -> …" : text;
}

}  // namespace muster::server
