#include <algorithm>
#include <set>
#include <unordered_map>

#include <fmt/ranges.h>

#include "documents/job/builder.hpp"

namespace muster::documents {
namespace {

using Index = std::uint32_t;

class Flow {
 public:
  Flow(const Context& context, JobDraft& draft)
      : context_(context), draft_(draft), stages_(draft.job.spec.stages) {
    for (Index i = 0; i < stages_.size(); ++i) by_name_.try_emplace(stages_[i].name, i);
  }

  void Build() {
    for (Index i = 0; i < stages_.size(); ++i) {
      if (stages_[i].section == Section::kBetween) continue;
      TakeNeeds(i);
      if (stages_[i].needs) with_needs_.insert(ListOf(i));
    }
    for (Index i = 0; i < stages_.size(); ++i) TakeSwitch(i);
    FindCircle();
  }

 private:
  // Stages that run one after the other, or need each other.
  using List = std::pair<Section, std::optional<Index>>;
  List ListOf(Index stage) const { return {stages_[stage].section, stages_[stage].parent}; }
  bool SameList(Index a, Index b) const { return ListOf(a) == ListOf(b); }

  std::optional<Index> Find(std::string_view name) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return std::nullopt;
    return found->second;
  }

  template <typename Predicate>
  std::vector<std::string_view> NamesThat(Predicate fits) const {
    std::vector<std::string_view> names;
    for (Index i = 0; i < stages_.size(); ++i)
      if (fits(i) && !stages_[i].name.empty()) names.push_back(stages_[i].name);
    return names;
  }

  void TakeNeeds(Index stage) {
    const Node& map = *draft_.nodes[stage];
    const Node* needs = map.Find("needs");
    if (needs == nullptr || stages_[stage].parent) return;
    if (stages_[stage].section == Section::kBranch) {
      context_.problems.Add(map.FindKey("needs")->at,
                            "a stage of 'branches' is entered only by 'switch'; it cannot need "
                            "another");
      return;
    }
    stages_[stage].needs.emplace();
    for (const Node* item : SeveralOf(needs))
      if (item->IsText()) TakeNeed(stage, *item);
  }

  void TakeNeed(Index stage, const Node& item) {
    const auto target = Find(item.text);
    if (target && *target != stage && SameList(*target, stage)) {
      stages_[stage].needs->push_back(*target);
      return;
    }
    if (target == stage) {
      context_.problems.Add(item.at, "stage '{}' needs itself", item.text);
    } else if (target) {
      context_.problems.Add(
          item.at, "stage '{}' is not in this list; a stage needs those beside it", item.text);
    } else {
      const auto beside = [&] {
        return NamesThat([&](Index i) { return i != stage && SameList(i, stage); });
      };
      context_.problems.Add(item.at, "needs: there is no stage '{}'{}", Shortened(item.text),
                            context_.problems.Suggest(item.at, item.text, beside));
    }
  }

  // Inside its list; the outer ones also reach branches, and branches the main list.
  bool MayReach(Index from, Index to) const {
    if (SameList(from, to)) return true;
    if (stages_[from].parent || stages_[to].parent) return false;
    const auto flows = [](Section section) {
      return section == Section::kMain || section == Section::kBranch;
    };
    return flows(stages_[from].section) && flows(stages_[to].section);
  }

  void TakeSwitch(Index stage) {
    const Node* cases = draft_.nodes[stage]->Find("switch");
    if (cases == nullptr || !cases->IsMap()) return;
    for (std::size_t i = 0; i < cases->keys.size(); ++i) {
      const Node& value = cases->items[i];
      if (!value.IsText()) continue;
      if (value.text == "end")
        stages_[stage].next[cases->keys[i].text] = StageSpec::kEnd;
      else if (const auto target = Target(stage, value))
        stages_[stage].next[cases->keys[i].text] = *target;
    }
  }

  std::optional<Index> Target(Index stage, const Node& value) {
    const auto target = Find(value.text);
    if (!target || stages_[*target].section == Section::kBetween) {
      const auto near = [&] { return NamesThat([&](Index i) { return MayReach(stage, i); }); };
      context_.problems.Add(value.at, "switch: there is no stage '{}'{}", Shortened(value.text),
                            context_.problems.Suggest(value.at, value.text, near));
      return std::nullopt;
    }
    if (!MayReach(stage, *target)) {
      context_.problems.Add(value.at,
                            "switch: stage '{}' is not within reach; a stage switches to those of "
                            "its own list{}",
                            value.text, stages_[stage].parent ? "" : " and to branches");
      return std::nullopt;
    }
    const bool back = *target <= stage || stages_[stage].section == Section::kBranch;
    if (back && stages_[*target].section == Section::kMain &&
        with_needs_.contains(ListOf(*target))) {
      context_.problems.Add(value.at,
                            "switch: stage '{}' comes before this one; going back is not possible "
                            "in a list where stages have 'needs'",
                            value.text);
      return std::nullopt;
    }
    return target;
  }

  // What a stage waits for: its needs, or the one before it.
  std::vector<Index> Before(Index stage) const {
    if (stages_[stage].needs) return *stages_[stage].needs;
    for (Index i = stage; i-- > 0;)
      if (SameList(i, stage)) return {i};
    return {};
  }

  void FindCircle() {
    state_.assign(stages_.size(), State::kNew);
    for (Index start = 0; start < stages_.size() && !told_; ++start)
      if (stages_[start].needs && state_[start] == State::kNew) Walk(start);
  }

  enum class State : std::uint8_t { kNew, kOpen, kDone };

  void Walk(Index stage) {
    state_[stage] = State::kOpen;
    path_.push_back(stage);
    for (const Index next : Before(stage)) {
      if (told_) return;
      if (state_[next] == State::kOpen) return TellCircle(next);
      if (state_[next] == State::kNew) Walk(next);
    }
    path_.pop_back();
    state_[stage] = State::kDone;
  }

  void TellCircle(Index first) {
    told_ = true;
    std::vector<std::string_view> names;
    const auto begin = std::ranges::find(path_, first);
    for (auto at = begin; at != path_.end(); ++at) names.push_back(stages_[*at].name);
    names.push_back(stages_[first].name);
    Index where = first;
    for (auto at = begin; at != path_.end(); ++at)
      if (stages_[*at].needs) where = *at;
    context_.problems.Add(draft_.nodes[where]->FindKey("needs")->at,
                          "these stages wait for each other: {}", fmt::join(names, " -> "));
  }

  const Context& context_;
  JobDraft& draft_;
  std::vector<StageSpec>& stages_;
  std::unordered_map<std::string_view, Index> by_name_;  // the first of each name
  std::set<List> with_needs_;
  std::vector<State> state_;
  std::vector<Index> path_;
  bool told_ = false;
};

}  // namespace

void BuildFlow(const Context& context, JobDraft& draft) { Flow(context, draft).Build(); }

}  // namespace muster::documents
