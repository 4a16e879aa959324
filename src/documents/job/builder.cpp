#include "documents/job/builder.hpp"

#include <algorithm>
#include <bit>

#include <fmt/ranges.h>

#include "base/text.hpp"
#include "documents/shape.hpp"
#include "domain/template.hpp"

namespace muster::documents {
namespace {

constexpr std::size_t kMaxStages = 1'000;
constexpr std::size_t kMaxNotices = 20;  // each is a message for every change of the run's state
constexpr std::size_t kMaxLimits = 100;  // each is kept at every stage that it holds for

// A key that names a host belongs to the tasks, any other to the run.
bool IsPerTask(const KeyLimit& limit) {
  const auto names_host = NamesHost(limit.key);
  return names_host && *names_host;
}

class Builder {
 public:
  Builder(const Context& context, const Node& root) : context_(context), root_(root) {}

  JobDraft Build() {
    TakeHead();
    TakeCaps();
    for (const auto& [key, section] : {std::pair{"stages", Section::kMain},
                                       {"branches", Section::kBranch},
                                       {"finally", Section::kFinally}})
      AddStages(root_.Find(key), section, std::nullopt);
    PlaceLimits(root_, 0, static_cast<std::uint32_t>(Stages().size()));
    return std::move(draft_);
  }

 private:
  std::vector<StageSpec>& Stages() { return draft_.job.spec.stages; }

  void TakeHead() {
    JobDocument& job = draft_.job;
    job.name = TextOf(root_, "name");
    job.description = TextOf(root_, "description");
    job.owner = TextOf(root_, "owner");
    job.targets = TextOf(root_, "targets");
    job.params = BuildParams(context_, root_.Find("params"));
    RunSpec& spec = job.spec;
    spec.title = job.name;
    spec.job = job.name;
    spec.targets = job.targets;
    spec.timeout = TimeOf(root_, "timeout", {});
    if (const auto priority = ParsePriority(TextOf(root_, "priority", "normal")))
      spec.priority = *priority;
    for (const Node* notice : SeveralOf(root_.Find("notify"))) {
      if (spec.notices.size() == kMaxNotices) {
        context_.problems.Add(notice->at, "a job has at most {} notices", kMaxNotices);
        break;
      }
      spec.notices.push_back({TextsOf(notice->Find("on")), TextOf(*notice, "to")});
    }
  }

  void TakeCaps() {
    for (const Node* cap : SeveralOf(root_.Find("max_hosts"))) {
      const auto share = ParseHostShare(cap->text);
      if (!share) continue;
      auto& slot = share->percent ? draft_.job.max_percent : draft_.job.max_hosts;
      if (slot)
        context_.problems.Add(cap->at,
                              "max_hosts has two {}; it takes a number, a percentage, or both",
                              share->percent ? "percentages" : "numbers");
      slot = share->number;
    }
  }

  void AddStages(const Node* list, Section section, std::optional<std::uint32_t> parent) {
    if (list == nullptr || !list->IsList()) return;
    for (const auto& item : list->items)
      if (item.IsMap()) AddStage(item, section, parent);
  }

  void AddStage(const Node& map, Section section, std::optional<std::uint32_t> parent) {
    const auto index = static_cast<std::uint32_t>(Stages().size());
    if (index >= kMaxStages) {
      if (!told_many_) context_.problems.Add(map.at, "a job has at most {} stages", kMaxStages);
      told_many_ = true;
      return;
    }
    draft_.nodes.push_back(&map);
    Stages().emplace_back();
    const std::uint32_t action = ActionOf(map);
    StageSpec stage;
    stage.name = TextOf(map, "name");
    stage.section = section;
    stage.parent = parent;
    if (action != 0) stage.action = BuildAction(context_, map, action, index, draft_.job);
    TakeOptions(map, stage);
    Stages()[index] = std::move(stage);
    if (action != 0) CheckMeaning(map, action);
    CheckName(index);
    if (action == kStagesAction) AddStages(map.Find("stages"), section, index);
    AddCheck(map, index);
    PlaceLimits(map, index, static_cast<std::uint32_t>(Stages().size()));
  }

  std::vector<KeyLimit> LimitsOf(const Node& map) {
    std::vector<KeyLimit> limits;
    for (const Node* limit : SeveralOf(map.Find("limit"))) {
      if (++limits_ > kMaxLimits) {
        if (limits_ == kMaxLimits + 1)
          context_.problems.Add(limit->at, "a job has at most {} limits", kMaxLimits);
        break;
      }
      limits.push_back({TextOf(*limit, "key"), NumberOf(*limit, "max", 1)});
    }
    return limits;
  }

  // The bit of the one action a stage has; 0 when there is not exactly one.
  std::uint32_t ActionOf(const Node& map) {
    std::uint32_t action = 0;
    const auto& names = ActionNames();
    for (const auto& key : map.keys) {
      const auto found = std::ranges::find(names, key.text);
      if (found == names.end()) continue;
      const auto bit = 1U << (found - names.begin());
      if (action != 0 && action != bit) {
        context_.problems.Add(key.at, "a stage does one thing: '{}' needs a stage of its own",
                              key.text);
        return 0;
      }
      action = bit;
    }
    // A misspelt one was told already.
    const Shape& shape = *JobShape().Find("stages")->type.item->map;
    const bool unknown = std::ranges::any_of(map.keys, [&](const Node& given) {
      const Key* key = shape.Find(given.text);
      return key == nullptr || !key->refused.empty();
    });
    if (action == 0 && !unknown)
      context_.problems.Add(map.at, "this stage does nothing; it needs one of {}",
                            fmt::join(names, ", "));
    return action;
  }

  void TakeOptions(const Node& map, StageSpec& stage) {
    if (const auto hosts = ParseHostChoice(TextOf(map, "hosts", "ok"))) stage.hosts = *hosts;
    stage.when = TextOf(map, "when");
    stage.max_visits = NumberOf(map, "max_visits", stage.max_visits);
    stage.recovers = FlagOf(map, "recovers", false);
    stage.repeat = TextOf(map, "repeat") == "safe" ? Repeat::kSafe : Repeat::kNever;
    stage.concurrency = NumberOf(map, "concurrency", 0);
    stage.spread = TimeOf(map, "spread", {});
    stage.wait_offline = TimeOf(map, "wait_offline", stage.wait_offline);
    stage.retries.max = NumberOf(map, "retries", 0);
    if (const Node* retries = map.Find("retries"); retries != nullptr && retries->IsMap())
      stage.retries = {NumberOf(*retries, "max", 0),
                       TimeOf(*retries, "backoff", stage.retries.backoff)};
    TakeBatches(map, stage);
  }

  void TakeBatches(const Node& map, StageSpec& stage) {
    const Node* batches = map.Find("batches");
    if (batches != nullptr) {
      const std::string plan = fmt::format("{}", fmt::join(TextsOf(batches), ","));
      if (auto parsed = ParseBatchPlan(plan)) stage.batches = std::move(*parsed);
    }
    if (const auto share = ParseHostShare(TextOf(map, "max_failures", "0")))
      stage.max_failures = *share;
    if (map.Find("max_unreachable") != nullptr)
      if (const auto share = ParseHostShare(TextOf(map, "max_unreachable", "0")))
        stage.max_unreachable = *share;
    const auto limit = TextOf(map, "on_limit", batches != nullptr ? "pause" : "fail");
    stage.on_limit = limit == "pause" ? OnLimit::kPause : OnLimit::kFail;
    const Node* between = map.Find("between");
    if (between == nullptr || !between->IsMap()) return;
    if (batches == nullptr)
      context_.problems.Add(map.FindKey("between")->at,
                            "'between' is for a stage with 'batches', which this one has not");
    stage.between_wait = TimeOf(*between, "wait", {});
    if (const Node* approve = between->Find("approve"))
      stage.between_approve = BuildApprove(context_, *approve);
  }

  // Keys that say nothing for what the stage does are mistakes.
  void CheckMeaning(const Node& map, std::uint32_t action) {
    const Shape& shape = *JobShape().Find("stages")->type.item->map;
    const auto name = ActionNames()[static_cast<std::size_t>(std::countr_zero(action))];
    for (const auto& given : map.keys) {
      const Key* key = shape.Find(given.text);
      if (key == nullptr || (key->actions & action) != 0) continue;
      std::vector<std::string_view> others;
      for (std::size_t i = 0; i < ActionNames().size(); ++i)
        if ((key->actions & 1U << i) != 0) others.push_back(ActionNames()[i]);
      context_.problems.Add(given.at, "'{}' says nothing for '{}'; it is for {}", given.text, name,
                            Either(others));
    }
  }

  void CheckName(std::uint32_t index) {
    const std::string& name = Stages()[index].name;
    const Node& map = *draft_.nodes[index];
    if (name.empty()) return;
    const Node& value = *map.Find("name");
    if (name == "end")
      context_.problems.Add(value.at,
                            "a stage cannot be named 'end': in 'switch' it means the end");
    for (std::uint32_t i = 0; i < index; ++i) {
      if (Stages()[i].name != name) continue;
      context_.problems.Add(value.at, "there is another stage '{}', on line {}", name,
                            draft_.nodes[i]->at.line);
      return;
    }
  }

  void AddCheck(const Node& map, std::uint32_t parent) {
    const Node* between = map.Find("between");
    const Node* check = between != nullptr ? between->Find("check") : nullptr;
    if (check == nullptr || !check->IsMap() || check->Find("script") == nullptr) return;
    const auto index = static_cast<std::uint32_t>(Stages().size());
    draft_.nodes.push_back(check);
    Stages().emplace_back();
    StageSpec stage;
    stage.name = Stages()[parent].name + "-check";
    stage.section = Section::kBetween;
    stage.parent = parent;
    stage.action = BuildAction(context_, *check, kScriptAction, index, draft_.job);
    TakeOptions(*check, stage);
    Stages()[index] = std::move(stage);
    for (std::uint32_t i = 0; i < index; ++i)
      if (Stages()[i].name == Stages()[index].name)
        context_.problems.Add(draft_.nodes[i]->at,
                              "'{}' is the name of the check of stage '{}'; choose another",
                              Stages()[i].name, Stages()[parent].name);
  }

  // To where they are taken: the stages [begin, end) that make tasks, or the run.
  void PlaceLimits(const Node& map, std::uint32_t begin, std::uint32_t end) {
    for (const auto& limit : LimitsOf(map)) {
      if (!IsPerTask(limit)) {
        draft_.job.spec.limits.push_back(limit);
        continue;
      }
      for (std::uint32_t i = begin; i < end; ++i) {
        if (!WorksOnHosts(Stages()[i])) continue;
        if (const auto fits = context_.budget.TakeBytes(sizeof limit + limit.key.size()); !fits)
          return context_.problems.Add(map.Find("limit")->at, "{}", fits.error().message);
        Stages()[i].limits.push_back(limit);
      }
    }
  }

  const Context& context_;
  const Node& root_;
  JobDraft draft_;
  bool told_many_ = false;
  std::size_t limits_ = 0;
};

}  // namespace

JobDocument BuildJob(const Context& context, const Node& root,
                     const std::vector<TemplateUse>& uses) {
  JobDraft draft = Builder(context, root).Build();
  BuildFlow(context, draft);
  CheckNames(context, uses, draft);
  return std::move(draft.job);
}

}  // namespace muster::documents
