#include "domain/plan_secrets.hpp"

#include "domain/channel.hpp"

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

const HttpAction* RequestOf(const StageSpec& stage) {
  if (const auto* condition = std::get_if<ConditionAction>(&stage.action))
    return &condition->request;
  return std::get_if<HttpAction>(&stage.action);
}

void CollectUses(const RunSpec& plan, std::set<const RunSpec*>& seen, PlanUses& uses) {
  if (!seen.insert(&plan).second) return;
  for (const auto& stage : plan.stages) {
    if (const HttpAction* request = RequestOf(stage))
      for (const auto& [name, value] : request->headers)
        if (const auto secret = SecretIn(value)) uses.secrets.emplace(*secret);
    if (const auto* notify = std::get_if<NotifyAction>(&stage.action))
      uses.channels.insert(notify->channel);
  }
  for (const auto& [name, child] : plan.jobs)
    if (child) CollectUses(*child, seen, uses);
}

}  // namespace

std::set<std::string> SecretsIn(const RunSpec& plan) {
  std::set<const RunSpec*> seen;
  std::set<std::string> names;
  CollectSecrets(plan, seen, names);
  return names;
}

PlanUses UsesOf(const RunSpec& plan) {
  PlanUses uses{.secrets = SecretsIn(plan), .channels = {}};
  std::set<const RunSpec*> seen;
  CollectUses(plan, seen, uses);
  return uses;
}

}  // namespace muster
