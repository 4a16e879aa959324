#include "engine/runs/render.hpp"

#include <algorithm>
#include <unordered_set>

#include "base/text.hpp"
#include "domain/condition.hpp"
#include "domain/template.hpp"

namespace muster::engine {
namespace {

// What the rendered texts of one command have in all: an order is one frame of a link.
constexpr std::size_t kMostCommand = 3 << 20;
// So much of a template's text and values counts as one thing of a turn: a turn of most_things then
// takes some tens of milliseconds.
constexpr std::size_t kBytesOfAThing = 16 << 10;

std::string VariableOf(const std::string& param, std::string_view prefix = "MUSTER_PARAM_") {
  std::string name(prefix);
  for (const char c : param)
    name +=
        c == '-' || c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

const std::string* Named(const Outputs& outputs, const std::string& name) {
  const auto found = std::ranges::find(outputs, name, &std::pair<std::string, std::string>::first);
  return found == outputs.end() ? nullptr : &found->second;
}

// What names stand for in a run, and on one host of it when there is one.
class RunScope final : public TemplateScope {
 public:
  explicit RunScope(const OpenRun& run) : run_(run) {}
  RunScope(const OpenRun& run, const Host* host, std::uint32_t ordinal)
      : run_(run), host_(host), ordinal_(ordinal) {}

  Result<std::string> Find(std::span<const std::string> path) const override {
    const std::string& root = path.front();
    if (root == "params" && path.size() == 2) return FindParam(path[1]);
    if (root == "run" && path.size() == 2) return FindRun(path[1]);
    if (root == "targets" && path.size() == 2) {
      if (path[1] == "count") return std::to_string(run_.run.hosts);
      if (path[1] == "expression") return run_.run.spec.targets;
    }
    if (root == "trigger" && path.size() >= 2) return FindTrigger(path);
    if (root == "host" && path.size() >= 2) return FindHost(path.subspan(1));
    if (root == "stages" && path.size() >= 3) return FindStage(path[1], path.subspan(2));
    return Unknown(path);
  }

 private:
  static std::unexpected<Error> Unknown(std::span<const std::string> path) {
    std::string name;
    for (const auto& part : path) name += (name.empty() ? "" : ".") + part;
    return Fail(ErrorCode::kNotFound, "'{}' is not known here", name);
  }

  Result<std::string> FindParam(const std::string& name) const {
    const auto found = std::ranges::find(run_.run.spec.params, name, &Param::name);
    if (found == run_.run.spec.params.end())
      return Fail(ErrorCode::kNotFound, "the run has no parameter '{}'", name);
    if (found->secret)
      return Fail(ErrorCode::kNotFound, "parameter '{}' is a secret; scripts find it in ${}", name,
                  VariableOf(name));
    return found->value;
  }

  Result<std::string> FindRun(const std::string& name) const {
    if (name == "id") return FormatRunId(run_.run.id);
    if (name == "job") return run_.run.spec.job;
    if (name == "by") return run_.run.by;
    if (name == "pass") return std::to_string(run_.run.pass);
    return Fail(ErrorCode::kNotFound, "'run.{}' is not known; there are id, job, by, pass", name);
  }

  Result<std::string> FindTrigger(std::span<const std::string> path) const {
    if (run_.run.trigger.empty())
      return Fail(ErrorCode::kNotFound, "no trigger started this run; `| default: …` helps");
    if (path.size() == 2 && path[1] == "name") return run_.run.trigger;
    if (path.size() == 2 && path[1] == "slot") return FormatTime(run_.run.slot);
    if (path.size() != 3 || path[1] != "data") return Unknown(path);
    const auto found = run_.run.spec.data.find(path[2]);
    if (found != run_.run.spec.data.end()) return found->second;
    return Fail(ErrorCode::kNotFound, "trigger {} carries no '{}'", run_.run.trigger, path[2]);
  }

  Result<std::string> FindHost(std::span<const std::string> path) const {
    if (host_ == nullptr) return Fail(ErrorCode::kNotFound, "there is no host here");
    const std::string& name = path.back();
    if (path.size() == 1 && name == "name") return host_->name;
    if (path.size() == 1 && name == "id") return std::to_string(host_->id.value);
    const bool facts = path.size() == 2 && path[0] == "facts";
    if (path.size() == 2 && !facts && path[0] != "labels") return Unknown(path);
    const Labels& labels = facts ? host_->facts : host_->labels;
    if (const auto found = labels.find(name); found != labels.end()) return found->second;
    return Fail(ErrorCode::kNotFound, "host {} has no {} '{}'", host_->name,
                facts ? "fact" : "label", name);
  }

  Result<std::string> FindStage(const std::string& stage, std::span<const std::string> path) const {
    const auto progress = std::ranges::find(run_.run.stages, stage, &StageProgress::name);
    if (progress == run_.run.stages.end())
      return Fail(ErrorCode::kNotFound, "the run has no stage '{}'", stage);
    const auto reported = run_.reported.find(stage);
    const bool spoke = reported != run_.reported.end();
    if (path.size() == 1) {
      if (path[0] == "state") return std::string(Name(progress->state));
      if (path[0] == "status") return spoke ? reported->second.status : std::string();
      if (path[0] == "succeeded") return std::to_string(progress->counts[TaskState::kSucceeded]);
      if (path[0] == "failed") return std::to_string(progress->counts.Failures());
    }
    if (path.size() == 2 && path[0] == "all")
      return spoke ? Collect(reported->second, path[1]) : Result<std::string>(std::string());
    if (path.size() != 2 || path[0] != "outputs") return Unknown(path);
    if (spoke) {
      if (const auto* value = Named(reported->second.stage, path[1])) return *value;
      const auto host = reported->second.hosts.find(ordinal_);
      if (host_ != nullptr && host != reported->second.hosts.end())
        if (const auto* value = Named(host->second, path[1])) return *value;
    }
    return Fail(ErrorCode::kNotFound, "stage {} reported no '{}'{}", stage, path[1],
                host_ ? " on " + host_->name : "");
  }

  Result<std::string> Collect(const OpenRun::Reported& reported, const std::string& name) const {
    std::vector<std::pair<std::uint32_t, const std::string*>> values;
    for (const auto& [ordinal, outputs] : reported.hosts)
      if (const auto* value = Named(outputs, name)) values.emplace_back(ordinal, value);
    std::ranges::sort(values);
    std::string text;
    for (const auto& [ordinal, value] : values) {
      text += fmt::format("{}={}\n", (*run_.targets)[ordinal].name, *value);
      if (text.size() > kMaxTemplateOutput)
        return Fail(ErrorCode::kInvalid, "'{}' of all hosts is longer than {}", name,
                    FormatSize(kMaxTemplateOutput));
    }
    return text;
  }

  const OpenRun& run_;
  const Host* host_ = nullptr;
  std::uint32_t ordinal_ = 0;
};

// Bounds and counts what the texts of one command read, so that no plan can hold up the thread that
// decides: a host's command is made by that thread, for each host again.
class MeteredScope final : public TemplateScope {
 public:
  explicit MeteredScope(const RunScope& scope, std::size_t looks_cost)
      : scope_(scope), look_cost_(looks_cost) {}

  Result<std::string> Find(std::span<const std::string> path) const override {
    auto value = scope_.Find(path);
    cost_ += look_cost_ + (value ? value->size() : 0);
    if (cost_ > kMostCost)
      return Fail(ErrorCode::kInvalid, "its templates read more than {} for one host",
                  FormatSize(kMostCost));
    return value;
  }
  std::size_t Cost() const { return cost_; }

 private:
  static constexpr std::size_t kMostCost = 4 << 20;

  const RunScope& scope_;
  const std::size_t look_cost_;
  mutable std::size_t cost_ = 0;  // about, in bytes
};

// Calls `take` for each text of a command that may hold expressions.
template <typename Take>
void EachTemplate(const muster::Command& command, Take take) {
  for (const auto& arg : command.args) take(arg);
  for (const auto& word : command.argv) take(word);
  for (const auto& [name, value] : command.env) take(value);
  take(command.stdin_data);
  take(command.folder);
  if (command.push) {
    take(command.push->to);
    take(command.push->content);
  }
  if (command.pull)
    for (const auto& path : command.pull->paths) take(path);
}

std::size_t SizeOf(const muster::Command& command) {
  std::size_t size = 0;
  EachTemplate(command, [&](const std::string& text) { size += text.size(); });
  return size;
}

bool DiffersByHost(const muster::Command& command) {
  bool differs = false;
  EachTemplate(command, [&](const std::string& text) {
    if (!HasExpressions(text)) return;
    const auto names = NamesHost(text);
    differs = differs || !names || *names;
  });
  return differs;
}

bool HasTemplates(const muster::Command& command) {
  bool has = false;
  EachTemplate(command, [&](const std::string& text) { has = has || HasExpressions(text); });
  return has;
}

void RenderIn(std::string& text, const TemplateScope& scope, Result<>& outcome) {
  if (!outcome || !HasExpressions(text)) return;
  if (auto rendered = Render(text, scope))
    text = std::move(*rendered);
  else
    outcome = Fail(rendered.error());
}

Result<> RenderAll(muster::Command& command, const TemplateScope& scope) {
  Result<> outcome;
  for (auto& arg : command.args) RenderIn(arg, scope, outcome);
  for (auto& word : command.argv) RenderIn(word, scope, outcome);
  for (auto& [name, value] : command.env) RenderIn(value, scope, outcome);
  RenderIn(command.stdin_data, scope, outcome);
  RenderIn(command.folder, scope, outcome);
  if (command.push) {
    FilePush push = *command.push;
    RenderIn(push.to, scope, outcome);
    RenderIn(push.content, scope, outcome);
    command.push = std::make_shared<const FilePush>(std::move(push));
  }
  if (command.pull) {
    FilePull pull = *command.pull;
    for (auto& path : pull.paths) RenderIn(path, scope, outcome);
    command.pull = std::make_shared<const FilePull>(std::move(pull));
  }
  return outcome;
}

using Variables = std::unordered_set<std::string>;
Variables VariablesOf(const muster::Command& command) {
  Variables names;
  for (const auto& [name, value] : command.env) names.insert(name);
  return names;
}

// Parameters reach a process in its environment; what the stage itself sets wins.
void AddParams(const std::vector<Param>& params, const Variables& set, muster::Command& command) {
  for (const auto& param : params) {
    std::string variable = VariableOf(param.name);
    if (set.contains(variable)) continue;
    if (param.secret)
      command.secrets.push_back({std::move(variable), param.value});
    else
      command.env.emplace_back(std::move(variable), param.value);
  }
}

// So does what its trigger carries, but for what conditions remember there.
void AddTrigger(const Run& run, const Variables& set, muster::Command& command) {
  if (run.trigger.empty()) return;
  command.env.emplace_back("MUSTER_TRIGGER", run.trigger);
  command.env.emplace_back("MUSTER_SLOT", FormatTime(run.slot));
  for (const auto& [name, value] : run.spec.data) {
    if (name.starts_with(kConditionData)) continue;
    std::string variable = VariableOf(name, "MUSTER_DATA_");
    if (!set.contains(variable)) command.env.emplace_back(std::move(variable), value);
  }
}

// A run of a plain command, which is most of them, has nothing to render: its templates are words
// that happen to look like some.
bool IsPlain(const OpenRun& run) { return run.run.spec.job.empty() && run.run.spec.params.empty(); }

bool AddsVariables(const OpenRun& run) {
  return !run.run.spec.params.empty() || !run.run.trigger.empty();
}

// About how many bytes are gone through for one name.
std::size_t LookCost(const OpenRun& run) { return 256 + 32 * run.run.spec.params.size(); }

struct Rendering {
  Result<HostAction> command;
  std::size_t cost = 0;  // about, in bytes
};

Rendering RenderCommand(const OpenRun& run, const StageSpec& spec, const RunScope& scope) {
  muster::Command command = *SharedCommandOf(spec);
  const MeteredScope metered(scope, LookCost(run));
  const std::size_t texts = SizeOf(command);
  if (auto rendered = RenderAll(command, metered); !rendered)
    return {Fail(rendered.error().code, "stage {}: {}", spec.name, rendered.error().message),
            texts + metered.Cost()};
  if (const std::size_t size = SizeOf(command); size > kMostCommand)
    return {Fail(ErrorCode::kInvalid, "stage {}: its command has {}, and may have {}", spec.name,
                 FormatSize(size), FormatSize(kMostCommand)),
            texts + metered.Cost()};
  // Only now: values are data, and never evaluated themselves.
  const Variables set = VariablesOf(command);
  AddParams(run.run.spec.params, set, command);
  AddTrigger(run.run, set, command);
  return {std::make_shared<const muster::Command>(std::move(command)), texts + metered.Cost()};
}

}  // namespace

Result<std::string> RenderText(const OpenRun& run, const std::string& text) {
  if (!HasExpressions(text)) return text;
  return Render(text, RunScope(run));
}

Result<bool> HoldsNow(const OpenRun& run, const std::string& condition) {
  if (condition.empty()) return true;
  return Holds(condition, RunScope(run));
}

Result<HostAction> RenderForAll(const OpenRun& run, const StageSpec& spec) {
  const HostAction command = SharedCommandOf(spec);
  if (IsPlain(run)) return command;
  if (DiffersByHost(*command)) return HostAction{};
  if (!AddsVariables(run) && !HasTemplates(*command)) return command;
  return RenderCommand(run, spec, RunScope(run)).command;
}

Result<std::vector<WantedKey>> RenderKeys(const State& state, const OpenRun& run,
                                          const OpenVisit& visit, std::uint32_t ordinal) {
  const auto host = state.hosts.entries.find((*run.targets)[ordinal].host);
  if (host == state.hosts.entries.end())
    return Fail(ErrorCode::kNotFound, "the host is no longer known");
  const RunScope scope(run, &host->second.host, ordinal);
  std::vector<WantedKey> keys;
  for (const auto& limit : run.SpecOf(visit).limits) {
    auto key = Render(limit.key, scope);
    if (!key)
      return Fail(key.error().code, "stage {}: limit: {}", run.SpecOf(visit).name,
                  key.error().message);
    keys.push_back({std::move(*key), limit.max});
  }
  if (auto fits = CheckKeys(keys); !fits)
    return Fail(ErrorCode::kInvalid, "stage {}: {}", run.SpecOf(visit).name, fits.error().message);
  return keys;
}

Result<HostAction> RenderFor(Turn& turn, const OpenRun& run, const OpenVisit& visit,
                             std::uint32_t ordinal) {
  const auto& hosts = turn.state.hosts.entries;
  const auto host = hosts.find((*run.targets)[ordinal].host);
  if (host == hosts.end()) return Fail(ErrorCode::kNotFound, "the host is no longer known");
  Rendering rendering =
      RenderCommand(run, run.SpecOf(visit), RunScope(run, &host->second.host, ordinal));
  turn.Spend(rendering.cost / kBytesOfAThing);
  return std::move(rendering.command);
}

}  // namespace muster::engine
