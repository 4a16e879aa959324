#include "domain/starts_job.hpp"

#include <algorithm>
#include <set>

namespace muster {
namespace {

bool Starts(const RunSpec& plan, std::string_view job, std::set<const RunSpec*>& seen) {
  if (plan.job == job) return true;
  if (!seen.insert(&plan).second) return false;
  return std::ranges::any_of(
      plan.jobs, [&](const auto& item) { return item.second && Starts(*item.second, job, seen); });
}

}  // namespace

bool StartsJob(const RunSpec& plan, std::string_view job) {
  std::set<const RunSpec*> seen;
  return Starts(plan, job, seen);
}

}  // namespace muster
