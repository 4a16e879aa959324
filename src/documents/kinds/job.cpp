#include "documents/kinds/job.hpp"

#include "documents/kinds.hpp"

namespace muster::documents {

void SetPushFiles(JobDocument& job, const FileReference& reference, std::vector<FileEntry> files,
                  bool tree) {
  StageSpec& stage = job.spec.stages[reference.stage];
  const Command* before = CommandOf(stage);
  MUSTER_CHECK(before != nullptr && before->push != nullptr);
  auto push = std::make_shared<FilePush>(*before->push);
  push->files = std::move(files);
  push->tree = tree;
  auto command = std::make_shared<Command>(*before);
  command->push = std::move(push);
  stage.action = HostAction(std::move(command));
}

std::vector<const JobAction*> JobsIn(const JobDocument& job) {
  std::vector<const JobAction*> actions;
  for (const auto& stage : job.spec.stages)
    if (const auto* action = std::get_if<JobAction>(&stage.action)) actions.push_back(action);
  return actions;
}

std::vector<std::string> ChannelsIn(const JobDocument& job) {
  std::vector<std::string> channels;
  for (const auto& notice : job.spec.notices) channels.push_back(notice.channel);
  for (const auto& stage : job.spec.stages)
    if (const auto* notify = std::get_if<NotifyAction>(&stage.action))
      channels.push_back(notify->channel);
  return channels;
}

std::vector<Reference> ReferencesOf(const JobDocument& job) {
  std::vector<Reference> references;
  for (const JobAction* action : JobsIn(job))
    references.push_back({.kind = Kind::kJob, .name = action->job, .key = "job"});
  for (auto& channel : ChannelsIn(job))
    references.push_back({.kind = Kind::kChannel, .name = std::move(channel), .key = "notify"});
  return references;
}

}  // namespace muster::documents
