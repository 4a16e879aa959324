#include "server/planning/slot_planner.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "domain/plan_bytes.hpp"
#include "server/planning/known_names.hpp"
#include "server/planning/resolve.hpp"
#include "server/planning/secret_warnings.hpp"
#include "server/planning/start_hosts.hpp"

namespace muster::server {
namespace {

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

Result<engine::SlotPlan> SlotPlanner::PlanNew(const TriggerSpec& spec,
                                              const std::map<std::string, std::string>& data,
                                              Asker asker) {
  const auto job = book_->Find(spec.job);
  if (!job) return Fail(job.error());
  if (*job == nullptr)
    return Fail(ErrorCode::kNotFound, "there is no job '{}'{}", spec.job,
                DidYouMean(inventory_.store, "job", spec.job));
  const auto params = documents::SlotParamsOf((*job)->document, spec, data);
  auto plan = book_->PlanOf(spec.job, params.given);
  if (!plan) return Fail(plan.error());
  if (!spec.targets.empty()) plan->targets = spec.targets;
  if (plan->targets.empty())
    return Fail(ErrorCode::kInvalid, "neither trigger '{}' nor job '{}' say the targets", spec.name,
                spec.job);
  const auto resolved = ResolveTargets(inventory_, plan->targets, spec.exclude, {.declared = true});
  if (!resolved)
    return Fail(asker == Asker::kPerson ? resolved.error() : AboutThisSlot(resolved.error()));
  const auto fits = CheckHosts(inventory_.live, (*job)->document, resolved->targets->size());
  if (!fits) return Fail(ErrorCode::kConflict, "{}", fits.error().message);
  // Viewers read it in the trigger's status and slots.
  if (const auto there = CheckSecrets(inventory_.store, *plan, SecretHints::kNone); !there)
    return Fail(AboutThisSlot(there.error()));
  plan->targets = TargetsWithout(plan->targets, spec.exclude);
  auto authors = book_->AuthorsOf(spec.job);
  authors.insert(resolved->group_authors.begin(), resolved->group_authors.end());
  return engine::SlotPlan{.spec = std::move(*plan),
                          .targets = resolved->targets,
                          .names = FoldedNames(*resolved->targets),
                          .frozen = CountFrozen(inventory_, freezes_(), *resolved->targets),
                          .never_joined = LeftOutText(*resolved),
                          .authors = {authors.begin(), authors.end()},
                          .note = NoteOf(params)};
}

Result<engine::SlotPlan> SlotPlanner::Plan(const TriggerSpec& spec,
                                           const std::map<std::string, std::string>& data,
                                           Asker asker) {
  const Key key{spec.job, spec.params, spec.carry, data, spec.targets, spec.exclude};
  const auto known = plans_.find(key);
  if (known != plans_.end()) return known->second;
  if (book_->BytesRead() > kMostPlanBytes) {
    plans_.clear();
    book_ = std::make_unique<JobBook>(inventory_.store);
  }
  auto plan = PlanNew(spec, data, asker);
  if (plan) plans_.emplace(key, *plan);  // an error names its trigger
  return plan;
}

Result<engine::SlotPlan> SlotPlanner::Plan(const engine::PrepareSlot& slot) {
  auto plan = Plan(*slot.spec, slot.data);
  if (!plan || !slot.find_author) return plan;
  const auto document = inventory_.store.FindDocument(kTriggerKind, slot.trigger, 0);
  if (!document) return Fail(document.error());
  if (*document) plan->authors.push_back((*document)->by);
  return plan;
}

}  // namespace muster::server
