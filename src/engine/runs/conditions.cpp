#include "engine/runs/conditions.hpp"

#include <algorithm>
#include <cmath>

#include "engine/runs/render.hpp"

namespace muster::engine {
namespace {

constexpr std::string_view kValue = "value";
constexpr std::string_view kState = "state";
constexpr std::string_view kChanged = "changed";
constexpr std::string_view kSince = "since";

std::optional<std::string> Named(const Outputs& outputs, std::string_view name) {
  const auto found = std::ranges::find(outputs, name, &std::pair<std::string, std::string>::first);
  if (found == outputs.end()) return std::nullopt;
  return found->second;
}

Outputs OutputsOf(const ConditionVerdict& verdict) {
  const std::string state(Name(verdict.state));
  return {{std::string(kValue), verdict.value},
          {std::string(kState), state},
          {std::string(kChanged), verdict.changed ? "true" : "false"},
          {std::string(kSince), verdict.since ? FormatTime(verdict.since) : ""},
          {"status", state}};
}

// The same back; nothing when the stage was not judged.
std::optional<ConditionVerdict> VerdictOf(const Outputs& outputs) {
  const auto state = Named(outputs, kState);
  if (!state) return std::nullopt;
  ConditionVerdict verdict;
  for (const auto known : {ConditionState::kOk, ConditionState::kPending, ConditionState::kFiring})
    if (*state == Name(known)) verdict.state = known;
  verdict.changed = Named(outputs, kChanged) == "true";
  verdict.since = ParseTime(Named(outputs, kSince).value_or(""));
  return verdict;
}

}  // namespace

Result<double> BoundOf(const OpenRun& run, const ConditionAction& action) {
  const auto text = RenderText(run, action.bound);
  if (!text) return Fail(text.error());
  const auto bound = ParseReading(*text);
  if (!bound || !std::isfinite(*bound))
    return Fail(ErrorCode::kInvalid, "{}: '{}' is no number", Name(action.comparison), *text);
  return *bound;
}

TaskEnd Judged(const OpenRun& run, const OpenVisit& visit, const ConditionAction& action,
               TaskEnd end, WallTime now) {
  const auto failed = [&end](const Error& error) {
    end.state = TaskState::kFailed;
    end.reason = error.message;
    end.outputs.clear();
    return end;
  };
  const auto bound = BoundOf(run, action);
  if (!bound) return failed(bound.error());
  const auto before = ReadMemory(run.run.spec.data, visit.record.name);
  const auto verdict = JudgeCondition(action, *bound, Named(end.outputs, kValue), before, now);
  if (!verdict) return failed(verdict.error());
  end.outputs = OutputsOf(*verdict);
  return end;
}

void CarryConditions(const OpenRun& run, CarriedData& data) {
  CarriedData kept;
  for (const auto& stage : run.run.spec.stages) {
    if (!std::holds_alternative<ConditionAction>(stage.action)) continue;
    ConditionMemory memory = ReadMemory(data, stage.name);
    const ConditionMemory before = ReadMemory(run.run.spec.data, stage.name);
    const auto reported = run.reported.find(stage.name);
    // Another run that was open beside this one may have ended first, and knows better.
    if (memory == before && reported != run.reported.end())
      if (const auto verdict = VerdictOf(reported->second.stage))
        memory = MemoryAfter(before, *verdict, run.run.state == RunState::kSucceeded);
    WriteMemory(kept, stage.name, memory);
  }
  std::erase_if(data, [](const auto& item) { return item.first.starts_with(kConditionData); });
  data.merge(kept);
}

}  // namespace muster::engine
