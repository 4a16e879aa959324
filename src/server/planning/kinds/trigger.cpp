#include <algorithm>

#include "domain/host_ranges.hpp"
#include "domain/targets.hpp"
#include "server/planning/apply_warnings.hpp"
#include "server/planning/kind_rules.hpp"
#include "server/planning/kinds/start_check.hpp"

namespace muster::server {
namespace {

Result<> CheckCarry(AppliedSet& set, const documents::Document& document, const TriggerSpec& spec) {
  const auto job = set.Jobs().Find(spec.job);
  if (!job) return Fail(job.error());
  if (*job == nullptr) return {};
  const auto& params = (*job)->document.params;
  for (const auto& name : spec.carry) {
    const auto param = std::ranges::find(params, name, &ParamSpec::name);
    if (param == params.end())
      set.Complain(document, "carry", name, "job '{}' has no parameter '{}'", spec.job, name);
    else if (param->type == ParamType::kSecret)
      set.Complain(
          document, "carry", name,
          "parameter '{}' of job '{}' is a secret, and hosts do not choose secrets; give it "
          "in 'params'",
          name, spec.job);
  }
  return {};
}

Result<> CheckTrigger(AppliedSet& set, const documents::Document& document) {
  const auto& spec = std::get<documents::TriggerDocument>(document.body).spec;
  if (auto checked = CheckCarry(set, document, spec); !checked) return checked;
  return CheckStart(set, document, spec.job, spec.params);
}

// Only of targets that are names alone: a pattern or a label may be of no host for now.
std::string AboutTargets(ApplyWarnings& warnings, const TriggerSpec& spec) {
  const auto targets = TargetExpression::Parse(spec.targets);
  const auto names = targets ? targets->OnlyNames() : std::nullopt;
  if (!names) return {};
  std::vector<std::string> unknown;
  for (const auto& name : *names)
    if (!warnings.DeclaredNames().contains(name) && !warnings.inventory().live.HostIdOf(name))
      unknown.push_back(name);
  if (unknown.empty()) return {};
  return fmt::format(
      "trigger {}: {} {} neither known nor declared by a document; it starts nothing until {}",
      spec.name, FoldHostNames(unknown, ApplyWarnings::kMostUnknownNames),
      unknown.size() == 1 ? "is" : "are", unknown.size() == 1 ? "it joins" : "they join");
}

std::string AboutMoment(Store& store, WallTime now, const TriggerSpec& spec) {
  if (!spec.once || spec.once > now) return {};
  // One that is applied again has done its work, or was warned of.
  const auto kept = store.FindTrigger(spec.name);
  if (kept && kept->value && kept->value->spec.once == spec.once) return {};
  return fmt::format("trigger {}: its only moment, {}, has passed: it starts nothing", spec.name,
                     FormatTime(spec.once));
}

void WarnOfTrigger(ApplyWarnings& warnings, const documents::Document& document) {
  const auto& spec = std::get<documents::TriggerDocument>(document.body).spec;
  warnings.OfSecrets(document, {.job = spec.job, .targets = spec.targets, .exclude = spec.exclude});
  warnings.Add(AboutMoment(warnings.inventory().store, warnings.now(), spec));
  if (!spec.targets.empty() && warnings.Count() < ApplyWarnings::kMostHostWarnings)
    warnings.Add(AboutTargets(warnings, spec));
}

// A trigger follows its document in the same commit.
Result<> Follow(Store& store, const std::string& name, engine::AppliedTrigger trigger,
                engine::ApplyDocuments& command) {
  auto known = store.FindTrigger(name);
  if (!known) return Fail(known.error());
  trigger.known = std::move(*known);
  command.triggers[name] = std::move(trigger);
  return {};
}

Result<> PutTrigger(Store& store, const documents::Document& document,
                    engine::ApplyDocuments& command) {
  const auto& trigger = std::get<documents::TriggerDocument>(document.body);
  return Follow(store, trigger.name,
                {.spec = std::make_shared<const TriggerSpec>(trigger.spec),
                 .known = {},
                 .paused = trigger.paused},
                command);
}

Result<> DropTrigger(Store& store, const std::string& name, engine::ApplyDocuments& command) {
  return Follow(store, name, {}, command);
}

}  // namespace

KindRules TriggerRules() {
  return {.kind = documents::Kind::kTrigger,
          .check = CheckTrigger,
          .warn = WarnOfTrigger,
          .put = PutTrigger,
          .drop = DropTrigger};
}

}  // namespace muster::server
