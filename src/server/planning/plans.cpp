#include "server/planning/plans.hpp"

#include "domain/secret.hpp"
#include "server/planning/job_book.hpp"
#include "server/planning/resolve.hpp"

namespace muster::server {
namespace {

bool MayTake(const Param& param, const ParamSpec& spec) {
  // A plain value may come from a host; it must not become a secret's name in another version.
  return spec.name == param.name && (param.secret || spec.type != ParamType::kSecret);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ParamsOf(const Run& run,
                                                          const documents::JobDocument& job) {
  std::vector<std::pair<std::string, std::string>> given;
  for (const auto& param : run.spec.params)
    for (const auto& spec : job.params)
      if (MayTake(param, spec))
        given.emplace_back(param.name,
                           (param.secret ? std::string(kSecretPrefix) : "") + param.value);
  return given;
}

Result<Corrected> CorrectedPlan(const Inventory& inventory, const Run& run) {
  if (run.spec.job.empty())
    return Fail(ErrorCode::kConflict, "run {} was not started from a job, so it has no versions",
                FormatRunId(run.id));
  JobBook book(inventory.store);
  const auto job = book.Find(run.spec.job);
  if (!job) return Fail(job.error());
  if (*job == nullptr)
    return Fail(ErrorCode::kNotFound, "there is no job '{}' any more", run.spec.job);
  auto plan = book.PlanOf(run.spec.job, ParamsOf(run, (*job)->document));
  if (!plan) return Fail(plan.error());
  plan->title = run.spec.title;
  plan->targets = run.spec.targets;
  auto authors = book.AuthorsOf(run.spec.job);
  authors.merge(GroupAuthors(inventory, plan->targets));
  return Corrected{.plan = std::make_shared<const RunSpec>(std::move(*plan)),
                   .authors = {authors.begin(), authors.end()}};
}

}  // namespace muster::server
