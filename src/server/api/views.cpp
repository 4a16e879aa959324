#include "server/api/views.hpp"

#include <boost/json.hpp>

#include "base/text.hpp"
#include "domain/secret.hpp"
#include "domain/wrap_batched.hpp"
#include "server/api/file_request.hpp"
#include "server/api/run_summary.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

// Of a text in a list of runs: 500 of them are one answer.
constexpr std::size_t kMostListed = 1000;

json::object LabelsView(const Labels& labels) {
  json::object object;
  for (const auto& [key, value] : labels) object[key] = value;
  return object;
}

// Text when it is text, else base64 under another name: bytes never break the JSON.
void PutBytes(json::object& object, const std::string& name, const std::string& bytes) {
  if (IsUtf8(bytes))
    object[name] = bytes;
  else
    object[name + "_base64"] = ToBase64(bytes);
}

json::value EndView(const std::optional<TaskEnd>& end) {
  if (!end) return nullptr;
  return json::object{{"state", Name(end->state)},
                      {"exit_code", end->exit_code},
                      {"signal", end->signal},
                      {"reason", end->reason},
                      {"started", TimeView(end->started)},
                      {"ended", TimeView(end->ended)}};
}

// Null when no process of it exited: it never ran, a signal ended it, or nobody knows.
json::value ExitCodeView(const TaskEnd* end) {
  if (end == nullptr || end->signal != 0 || end->state == TaskState::kRefused ||
      end->state == TaskState::kSkipped || end->state == TaskState::kLost)
    return nullptr;
  return end->exit_code;
}

json::value PeakView(const TaskEnd* end) {
  if (end == nullptr || end->peak_memory == 0) return nullptr;
  return end->peak_memory;
}

json::object ResourcesView(const Resources& resources) {
  json::object view;
  if (resources.memory != 0) view["memory"] = resources.memory;
  if (resources.cpu != 0) view["cpu"] = resources.cpu / 1000.0;
  if (resources.processes != 0) view["processes"] = resources.processes;
  return view;
}

}  // namespace

json::value TimeView(WallTime time) {
  if (!time) return nullptr;
  return json::value(FormatTime(time));
}

json::object CountsView(const TaskCounts& counts) {
  json::object object;
  for (std::size_t i = 0; i < kTaskStates; ++i)
    if (counts.by_state[i] != 0) object[Name(static_cast<TaskState>(i))] = counts.by_state[i];
  return object;
}

LogLoss LossOf(const TaskRecord& record, const LogsKept& kept) {
  if (record.log.state == LogState::kOpen || record.log.bytes == 0) return LogLoss::kNone;
  return kept.LossOf(record.ended);
}

json::value LossView(LogLoss loss) {
  return loss == LogLoss::kNone ? json::value() : json::value(Name(loss));
}

namespace {

json::object LogView(const LogMark& log, LogLoss loss) {
  return {{"state", Name(loss == LogLoss::kNone ? log.state : LogState::kExpired)},
          {"missing", LossView(loss)},
          {"bytes", log.bytes},
          {"stdout_sha256", ToHex(log.stdout_sha256)},
          {"stderr_sha256", ToHex(log.stderr_sha256)}};
}

}  // namespace

json::object TaskView(const TaskRecord& record, const std::string& host, TaskState shown,
                      const LogsKept& kept) {
  const TaskEnd* end = record.end ? &*record.end : nullptr;
  return {{"host", host},
          {"ordinal", record.key.ordinal},
          {"attempt", record.sent ? record.key.attempt.value : 0},
          {"state", Name(shown)},
          {"exit_code", ExitCodeView(end)},
          {"signal", end ? end->signal : 0},
          {"reason", end && !end->reason.empty() ? end->reason : record.reason},
          {"sent", TimeView(record.sent)},
          {"started", TimeView(end ? end->started : WallTime{})},
          {"ended", TimeView(record.ended)},
          {"leftovers", end != nullptr && end->leftovers},
          {"peak_memory", PeakView(end)},
          {"log", LogView(record.log, LossOf(record, kept))},
          {"late", EndView(record.late)}};
}

json::object WaitingTaskView(const std::string& host, std::uint32_t ordinal, TaskState state) {
  TaskRecord none;
  none.key.ordinal = ordinal;
  return TaskView(none, host, state);
}

namespace {

constexpr const char* kCutOff = "the server's disk is full, and it closes links that bring output";

json::array NamesView(const std::vector<std::string>& names) {
  json::array list;
  for (const auto& name : names) list.emplace_back(name);
  return list;
}

json::value MaintenanceView(const Host& host, WallTime now) {
  if (!host.InMaintenance(now)) return nullptr;
  return {{"reason", host.maintenance->reason},
          {"by", host.maintenance->by},
          {"at", TimeView(host.maintenance->at)},
          {"until", TimeView(host.maintenance->until)}};
}

}  // namespace

json::object HostView(const LiveView::HostView& view, Now now, bool disk_full) {
  const Host& host = view.host;
  const bool cut_off =
      disk_full && !view.online && host.state == HostState::kActive && host.note.empty();
  return {{"name", host.name},
          {"id", host.id.value},
          {"state", Name(host.state)},
          {"note", cut_off ? kCutOff : host.note},
          {"online", view.online},
          {"address", view.address},
          {"running", view.running},
          {"labels", LabelsView(host.labels)},
          {"own_labels", NamesView(host.own_labels)},
          {"facts", LabelsView(host.facts)},
          {"joined", TimeView(host.joined)},
          {"last_hello", TimeView(host.last_hello)},
          {"last_seen", TimeView(view.LastSeen(now))},
          {"maintenance", MaintenanceView(host, now.wall)}};
}

json::object SpecView(const RunSpec& spec) {
  json::object view{{"targets", spec.targets}};
  if (spec.stages.empty()) return view;
  const StageSpec& stage = spec.stages.front();
  if (CommandOf(stage) == nullptr) return view;
  const Command& command = *CommandOf(stage);
  json::object what;
  if (!command.argv.empty()) {
    json::array words;
    for (const auto& word : command.argv) words.emplace_back(IsUtf8(word) ? word : ToBase64(word));
    what["argv"] = std::move(words);
  } else {
    PutBytes(what, "script", command.script);
    what["interpreter"] = command.interpreter;
    json::array args;
    for (const auto& arg : command.args) args.emplace_back(IsUtf8(arg) ? arg : ToBase64(arg));
    what["args"] = std::move(args);
  }
  if (!command.MovesFiles()) view["command"] = std::move(what);
  PutFileView(command, view);
  json::object env;
  for (const auto& [key, value] : command.env) env[key] = IsUtf8(value) ? value : ToBase64(value);
  view["env"] = std::move(env);
  view["stdin_bytes"] = command.stdin_data.size();
  view["user"] = command.user;
  view["folder"] = command.folder;
  view["timeout_ms"] = command.timeout.count();
  view["grace_ms"] = command.grace.count();
  view["max_output"] = command.max_output;
  view["leftovers"] = command.kill_leftovers ? "kill" : "keep";
  view["resources"] = ResourcesView(command.resources);
  view["concurrency"] = stage.concurrency;
  view["batches"] = FormatBatchPlan(stage.batches);
  view["max_failures"] = FormatHostShare(stage.max_failures);
  if (stage.max_unreachable) view["max_unreachable"] = FormatHostShare(*stage.max_unreachable);
  view["wait_offline_ms"] = stage.wait_offline.count();
  return view;
}

StageState ShownStage(const StageProgress& progress, RunState run) {
  if (run == RunState::kPaused && progress.state == StageState::kRunning)
    return StageState::kPaused;
  // The flow did not come to it.
  if (IsFinal(run) && progress.state == StageState::kWaiting) return StageState::kSkipped;
  return progress.state;
}

std::string ReasonOfStage(const StageProgress& progress, RunState run) {
  const bool reached = progress.state != StageState::kWaiting || !IsFinal(run);
  return reached ? progress.reason : "the run did not come to it";
}

TaskCounts StageCounts(const Run& run, std::uint32_t index,
                       const std::optional<LiveView::RunView>& live) {
  TaskCounts counts = run.stages[index].counts;
  if (!live) return counts;
  for (const auto& [stage, open] : live->stages)
    if (stage == index)
      for (std::size_t i = 0; i < kTaskStates; ++i) counts.by_state[i] += open.by_state[i];
  return counts;
}

namespace {

json::object StageView(const Run& run, const WrittenStage& written,
                       const std::optional<LiveView::RunView>& live, RunState state) {
  const StageProgress& progress = run.stages[written.stage];
  json::object view{{"name", progress.name},
                    {"state", Name(ShownStage(progress, state))},
                    {"visit", progress.visit.value},
                    {"visits", progress.visits},
                    {"started", TimeView(progress.started)},
                    {"ended", TimeView(progress.ended)},
                    {"hosts", progress.hosts},
                    {"batch", progress.batch},
                    {"reason", ReasonOfStage(progress, state)},
                    {"counts", CountsView(StageCounts(run, written.work, live))}};
  if (written.work < run.spec.stages.size()) {
    view["action"] = ActionName(run.spec.stages[written.work]);
    if (const auto parent = run.spec.stages[written.stage].parent;
        parent && *parent < run.stages.size())
      view["parent"] = run.stages[*parent].name;
  }
  return view;
}

json::value PauseView(const std::optional<Pause>& pause) {
  if (!pause) return nullptr;
  return json::object{{"by", pause->by}, {"at", TimeView(pause->at)}, {"reason", pause->reason}};
}

// Stages that a person has it skip, by name.
json::array SkipsView(const Run& run) {
  json::array names;
  for (const std::uint32_t stage : run.skips)
    if (stage < run.stages.size()) names.emplace_back(run.stages[stage].name);
  return names;
}

// As `muster start -p` takes them: of secrets their names.
json::object ParamsView(const RunSpec& spec) {
  json::object params;
  for (const auto& param : spec.params)
    params[param.name] = (param.secret ? std::string(kSecretPrefix) : "") + param.value;
  return params;
}

// Limits that a person changed, in their order; a later one counts.
json::array LimitsView(const Run& run) {
  json::array list;
  for (const auto& set : run.overrides) {
    json::object one{
        {"stage", set.stage && *set.stage < run.stages.size() ? run.stages[*set.stage].name : ""}};
    if (set.concurrency) one["concurrency"] = *set.concurrency;
    if (set.max_failures) one["max_failures"] = FormatHostShare(*set.max_failures);
    if (set.max_unreachable) one["max_unreachable"] = FormatHostShare(*set.max_unreachable);
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace

json::object RunView(const Run& run, std::optional<LiveView::RunView> live, std::uint32_t logs_open,
                     CommitNumber commit, bool with_spec) {
  // The end is on record before the live view hears of it.
  if (live && IsFinal(run.state) && live->commit < run.ended_commit) live.reset();
  const RunState state = live ? live->state : run.state;
  const TaskCounts counts = live ? live->counts : run.counts;
  json::array stages;
  for (const auto& written : StagesAsWritten(run))
    stages.push_back(StageView(run, written, live, state));
  json::value stop = nullptr;
  if (run.stop)
    stop = json::object{
        {"by", run.stop->by}, {"at", TimeView(run.stop->at)}, {"reason", run.stop->reason}};
  json::object view{
      {"id", FormatRunId(run.id)},
      {"state", Name(state)},
      {"title", with_spec ? run.spec.title : Clipped(run.spec.title, kMostListed)},
      {"targets", with_spec ? run.spec.targets : Clipped(run.spec.targets, kMostListed)},
      {"by", run.by},
      {"starters", NamesView(run.starters)},
      {"created", TimeView(run.created)},
      {"ended", TimeView(run.ended)},
      {"hosts", run.hosts},
      {"counts", CountsView(counts)},
      {"reason", run.reason},
      {"stop", std::move(stop)},
      {"pause", PauseView(run.pause)},
      {"pass", run.pass},
      {"job", run.spec.job},
      {"version", run.spec.version},
      {"parent", run.parent ? json::value(FormatRunId(run.parent)) : json::value()},
      {"stages", std::move(stages)},
      {"logs_open", logs_open},
      {"exit_code", ExitCodeOf(counts)},
      {"commit", live ? live->commit.value : commit.value}};
  if (!run.spec.left_out.empty()) view["left_out"] = run.spec.left_out;
  if (!run.skips.empty()) view["skips"] = SkipsView(run);
  if (!run.overrides.empty()) view["limits"] = LimitsView(run);
  if (with_spec) view["spec"] = SpecView(run.spec);
  if (with_spec || !run.spec.params.empty()) view["params"] = ParamsView(run.spec);
  return view;
}

}  // namespace muster::server::api
