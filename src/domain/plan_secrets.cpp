#include "domain/plan_secrets.hpp"

namespace muster {
namespace {

void CollectSecrets(const RunSpec& plan, std::set<const RunSpec*>& seen,
                    std::set<std::string>& names) {
  if (!seen.insert(&plan).second) return;
  for (const auto& param : plan.params)
    if (param.secret) names.insert(param.value);
  for (const auto& stage : plan.stages)
    if (const Command* command = CommandOf(stage))
      for (const auto& use : command->secrets) names.insert(use.secret);
  for (const auto& [name, child] : plan.jobs)
    if (child) CollectSecrets(*child, seen, names);
}

}  // namespace

std::set<std::string> SecretsIn(const RunSpec& plan) {
  std::set<const RunSpec*> seen;
  std::set<std::string> names;
  CollectSecrets(plan, seen, names);
  return names;
}

}  // namespace muster
