#include "server/api/trigger_planner.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "domain/plan_bytes.hpp"
#include "server/api/frozen.hpp"
#include "server/api/known_names.hpp"
#include "server/api/resolve.hpp"
#include "server/api/secret_warnings.hpp"
#include "server/api/starting.hpp"

namespace muster::server::api {
namespace {

// Slots that are due together often share a job, which is read once for so many of them; more of
// them keep several workers busy.
constexpr std::size_t kTogether = 250;

std::string NoteOf(const documents::SlotParams& params) {
  if (params.refused.empty()) return "";
  return fmt::format("carried values that the job does not allow were not used: {}",
                     fmt::join(params.refused, ", "));
}

// Which hosts there are changes from day to day: nothing is wrong with the trigger.
Error AboutThisSlot(Error error) {
  if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kConflict;
  return error;
}

}  // namespace

Result<engine::SlotPlan> PlanSlot(Services& services, JobBook& book, const TriggerSpec& spec,
                                  const std::map<std::string, std::string>& data, SlotAsker asker) {
  const bool person = asker == SlotAsker::kPerson;
  const auto job = book.Find(spec.job);
  if (!job) return Fail(job.error());
  if (*job == nullptr)
    return Fail(ErrorCode::kNotFound, "there is no job '{}'{}", spec.job,
                DidYouMean(services.store, "job", spec.job));
  const auto params = documents::SlotParamsOf((*job)->document, spec, data);
  auto plan = book.PlanOf(spec.job, params.given);
  if (!plan) return Fail(plan.error());
  if (!spec.targets.empty()) plan->targets = spec.targets;
  if (plan->targets.empty())
    return Fail(ErrorCode::kInvalid, "neither trigger '{}' nor job '{}' say the targets", spec.name,
                spec.job);
  const auto resolved = ResolveTargets(services, plan->targets, spec.exclude, {.declared = true});
  if (!resolved) return Fail(person ? resolved.error() : AboutThisSlot(resolved.error()));
  const auto fits = CheckHosts(services, (*job)->document, resolved->targets->size());
  if (!fits) return Fail(ErrorCode::kConflict, "{}", fits.error().message);
  // Viewers read it in the trigger's status and slots.
  if (const auto there = CheckSecrets(services, *plan, SecretHints::kNone); !there)
    return Fail(AboutThisSlot(there.error()));
  plan->targets = TargetsWithout(plan->targets, spec.exclude);
  auto authors = book.AuthorsOf(spec.job);
  authors.insert(resolved->group_authors.begin(), resolved->group_authors.end());
  return engine::SlotPlan{.spec = std::move(*plan),
                          .targets = resolved->targets,
                          .names = FoldedNames(*resolved->targets),
                          .frozen = CountFrozen(services, *resolved->targets),
                          .never_joined = LeftOutText(*resolved),
                          .authors = {authors.begin(), authors.end()},
                          .note = NoteOf(params)};
}

Result<engine::SlotPlan> SlotPlanner::Plan(const TriggerSpec& spec,
                                           const std::map<std::string, std::string>& data) {
  const Key key{spec.job, spec.params, spec.carry, data, spec.targets, spec.exclude};
  const auto known = plans_.find(key);
  if (known != plans_.end()) return known->second;
  if (book_->BytesRead() > kMostPlanBytes) {
    plans_.clear();
    book_ = std::make_unique<JobBook>(services_.store);
  }
  auto plan = PlanSlot(services_, *book_, spec, data);
  if (plan) plans_.emplace(key, *plan);  // an error names its trigger
  return plan;
}

Result<engine::SlotPlan> SlotPlanner::Plan(const engine::PrepareSlot& slot) {
  auto plan = Plan(*slot.spec, slot.data);
  if (!plan || !slot.find_author) return plan;
  const auto document = services_.store.FindDocument(kTriggerKind, slot.trigger, 0);
  if (!document) return Fail(document.error());
  if (*document) plan->authors.push_back((*document)->by);
  return plan;
}

void TriggerPlanner::Prepare(std::vector<engine::PrepareSlot> slots) {
  for (std::size_t begin = 0; begin < slots.size(); begin += kTogether) {
    const std::size_t end = std::min(begin + kTogether, slots.size());
    std::vector<engine::PrepareSlot> part(slots.begin() + static_cast<std::ptrdiff_t>(begin),
                                          slots.begin() + static_cast<std::ptrdiff_t>(end));
    workers_.Post(
        [this, part = std::move(part)] {
          SlotPlanner planner(services_);
          for (const auto& slot : part)
            services_.engine.Submit(engine::FireSlot{.trigger = slot.trigger,
                                                     .version = slot.version,
                                                     .slot = slot.slot,
                                                     .act = slot.act,
                                                     .plan = planner.Plan(slot)});
        },
        "plan slots");
  }
}

void TriggerPlanner::Fetch(std::vector<engine::FetchTriggers> fetches) {
  for (const auto& fetch : fetches)
    workers_.Post(
        [this, fetch] {
          auto found = services_.store.DueTriggers(fetch.after, fetch.until, fetch.limit);
          if (!found) return;  // asked again
          const bool more = found->value.size() == fetch.limit;
          services_.engine.Submit(engine::TakeTriggers{.after = fetch.after,
                                                       .until = fetch.until,
                                                       .found = std::move(*found),
                                                       .more = more});
        },
        "read triggers");
}

}  // namespace muster::server::api
