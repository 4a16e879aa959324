#include "domain/plan_bytes.hpp"

#include <set>

#include "base/text.hpp"

namespace muster {
namespace {

std::size_t TextBytes(const std::string& text) { return sizeof text + text.size(); }
std::size_t TextBytes(const std::vector<std::string>& texts) {
  std::size_t bytes = sizeof texts;
  for (const auto& text : texts) bytes += TextBytes(text);
  return bytes;
}
template <typename Pairs>
std::size_t PairBytes(const Pairs& pairs) {
  std::size_t bytes = sizeof pairs;
  for (const auto& [name, value] : pairs) bytes += TextBytes(name) + TextBytes(value);
  return bytes;
}

struct ActionBytes {
  std::size_t operator()(const HostAction& action) const {
    const Command& command = *action;
    std::size_t bytes = sizeof command + TextBytes(command.argv) + command.script.size() +
                        TextBytes(command.args) + command.stdin_data.size() +
                        PairBytes(command.env) + TextBytes(command.masks) +
                        command.secrets.size() * sizeof(SecretUse);
    if (command.push) {
      bytes += command.push->content.size() + BytesOf(command.push->files);
    }
    if (command.pull) bytes += TextBytes(command.pull->paths);
    if (command.reboot) bytes += TextBytes(command.reboot->argv);
    return bytes;
  }
  std::size_t operator()(const HttpAction& action) const {
    return action.url.size() + PairBytes(action.headers) + action.body.size() +
           action.expect.size() * sizeof(std::uint16_t) + PairBytes(action.outputs);
  }
  std::size_t operator()(const ConditionAction& action) const {
    return (*this)(action.request) + action.value.size() + action.bound.size();
  }
  std::size_t operator()(const ApproveAction& action) const {
    return action.message.size() + TextBytes(action.by);
  }
  std::size_t operator()(const NotifyAction& action) const { return action.message.size(); }
  std::size_t operator()(const JobAction& action) const { return PairBytes(action.params); }
  std::size_t operator()(const WaitAction& action) const { return action.until.size(); }
  std::size_t operator()(const SequenceAction&) const { return 0; }
};

std::size_t StageBytes(const StageSpec& stage) {
  std::size_t bytes = sizeof stage + stage.name.size() + stage.when.size() +
                      std::visit(ActionBytes(), stage.action) +
                      stage.batches.sizes.size() * sizeof(HostShare);
  for (const auto& limit : stage.limits) bytes += sizeof limit + limit.key.size();
  for (const auto& [outcome, target] : stage.next) bytes += TextBytes(outcome) + sizeof target;
  if (stage.needs) bytes += stage.needs->size() * sizeof(std::uint32_t);
  if (stage.between_approve) bytes += ActionBytes()(*stage.between_approve);
  return bytes;
}

// Jobs that several plans start are counted once.
std::size_t PlanBytes(const RunSpec& plan, std::set<const RunSpec*>& seen) {
  if (!seen.insert(&plan).second) return 0;
  std::size_t bytes = sizeof plan + plan.title.size() + plan.targets.size() + plan.left_out.size() +
                      PairBytes(plan.data);
  for (const auto& stage : plan.stages) bytes += StageBytes(stage);
  for (const auto& param : plan.params)
    bytes += sizeof param + param.name.size() + param.value.size();
  for (const auto& rule : plan.accepts)
    bytes += sizeof rule + rule.pattern.size() + TextBytes(rule.choices);
  for (const auto& notice : plan.notices) bytes += sizeof notice + TextBytes(notice.on);
  for (const auto& limit : plan.limits) bytes += sizeof limit + limit.key.size();
  for (const auto& [name, job] : plan.jobs)
    if (job) bytes += PlanBytes(*job, seen);
  return bytes;
}

}  // namespace

std::size_t BytesOf(const RunSpec& plan) {
  std::set<const RunSpec*> seen;
  return PlanBytes(plan, seen);
}

std::size_t BytesOf(const std::vector<FileEntry>& files) {
  std::size_t bytes = 0;
  for (const auto& file : files) bytes += sizeof file + file.path.size() + file.sha256.size();
  return bytes;
}

std::unexpected<Error> PlanTooLarge(const std::string& job, std::size_t bytes) {
  return Fail(
      ErrorCode::kInvalid,
      "the plan {} takes {} or more, and may take {}: it has a copy of each script and file "
      "list for each stage that uses it, and the jobs that it starts; put a large script "
      "on the hosts with 'push' and run it from there, pack a pushed folder into one "
      "archive, or use fewer stages",
      job.empty() ? "of the run" : "of job '" + job + "'", FormatSize(bytes),
      FormatSize(kMostPlanBytes));
}

Result<> CheckPlanBytes(const RunSpec& plan) {
  const std::size_t bytes = BytesOf(plan);
  if (bytes > kMostPlanBytes) return PlanTooLarge(plan.job, bytes);
  return {};
}

}  // namespace muster
