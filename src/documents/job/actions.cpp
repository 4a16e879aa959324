#include <algorithm>

#include "base/text.hpp"
#include "documents/job/builder.hpp"
#include "documents/shape.hpp"
#include "documents/values.hpp"
#include "domain/request_time.hpp"

namespace muster::documents {
namespace {

constexpr Duration kRebootTime = std::chrono::minutes(15);

class ActionBuilder {
 public:
  ActionBuilder(const Context& context, const Node& map, std::uint32_t stage, JobDocument& job)
      : context_(context), map_(map), stage_(stage), job_(job) {}

  Action Script(const Node& value) {
    auto command = NewCommand(value, Command().timeout);
    if (value.IsText()) command->script = value.text;
    if (value.IsMap()) TakeScript(value, *command);
    if (command->script.size() + command->stdin_data.size() > kMaxCommandBytes)
      context_.problems.Add(value.at, "script and stdin together are at most {}",
                            FormatSize(kMaxCommandBytes));
    TakeResources(*command);
    return HostAction(std::move(command));
  }

  Action Push(const Node& value) {
    auto command = NewCommand(value, Command().timeout);
    auto push = std::make_shared<FilePush>();
    push->content = TextOf(value, "content");
    push->to = TextOf(value, "to");
    push->owner = TextOf(value, "owner");
    push->rate = RateOf(value, "rate");
    push->mode = ParseMode(TextOf(value, "mode"));
    if (const Node* from = value.Find("from"); from != nullptr && from->IsText()) {
      job_.files.push_back({FileReference::Use::kPush, stage_, from->text, from->at});
      push->name = BaseName(from->text);
    } else if (push->to.ends_with('/')) {
      context_.problems.Add(
          value.Find("to")->at,
          "'content' has no name of its own: 'to' must be the file, not a folder");
    }
    if (push->content.size() > kMaxCommandBytes)
      context_.problems.Add(value.at, "'content' is at most {}; push a file instead",
                            FormatSize(kMaxCommandBytes));
    command->push = std::move(push);
    return HostAction(std::move(command));
  }

  Action Pull(const Node& value) {
    auto command = NewCommand(value, Command().timeout);
    auto pull = std::make_shared<FilePull>();
    pull->paths = TextsOf(value.IsMap() ? value.Find("from") : &value);
    pull->max_bytes = SizeOf(value, "max_size", pull->max_bytes);
    pull->rate = RateOf(value, "rate");
    command->pull = std::move(pull);
    return HostAction(std::move(command));
  }

  Action Restart(const Node& value) {
    auto command = NewCommand(value, kRebootTime);
    auto reboot = std::make_shared<Reboot>();
    if (const Node* how = value.Find("command")) {
      reboot->argv = TextsOf(how);
      if (how->IsText()) reboot->argv = {"/bin/sh", "-c", how->text};
    }
    command->reboot = std::move(reboot);
    return HostAction(std::move(command));
  }

  Action Approve(const Node& value) {
    auto approve = BuildApprove(context_, value);
    approve.timeout = Timeout(value, approve.timeout);
    return approve;
  }

  Action Http(const Node& value) {
    HttpAction http = Request(value);
    for (auto& [name, pointer] : PairsOf(value.Find("outputs"))) http.outputs[name] = pointer;
    return http;
  }

  HttpAction Request(const Node& value) const {
    HttpAction http;
    http.method = TextOf(value, "method", http.method);
    http.url = TextOf(value, "url");
    http.headers = PairsOf(value.Find("headers"));
    http.body = TextOf(value, "body");
    for (const auto& status : TextsOf(value.Find("expect")))
      if (const auto number = ParseInteger(status))
        http.expect.push_back(static_cast<std::uint16_t>(*number));
    http.timeout = Timeout(value, http.timeout);
    if (http.timeout > kMaxRequestTime) {
      const Node* inner = value.Find("timeout");
      context_.problems.Add((inner != nullptr ? inner : map_.Find("timeout"))->at,
                            "timeout: a request has at most {}; wait for longer with 'retries'",
                            FormatDuration(kMaxRequestTime));
    }
    return http;
  }

  Action Condition(const Node& value) {
    ConditionAction condition;
    condition.request = Request(value);
    condition.value = TextOf(value, "value");
    for (const auto comparison : {Comparison::kAbove, Comparison::kBelow, Comparison::kAtLeast,
                                  Comparison::kAtMost, Comparison::kEquals, Comparison::kDiffers}) {
      if (value.FindKey(Name(comparison)) == nullptr) continue;
      condition.comparison = comparison;
      condition.bound = TextOf(value, Name(comparison));
    }
    condition.hold = TimeOf(value, "for", {});
    const std::string missing = TextOf(value, "missing");
    if (missing == "ok") condition.missing = MissingValue::kOk;
    if (missing == "firing") condition.missing = MissingValue::kFiring;
    return condition;
  }

  Action Child(const Node& value) {
    JobAction child;
    child.job = value.IsText() ? value.text : TextOf(value, "name");
    for (auto& [name, text] : PairsOf(value.Find("params"))) child.params[name] = text;
    child.wait = FlagOf(value, "wait", true);
    if (!child.job.empty() && child.job == job_.name)
      context_.problems.Add(value.at, "job '{}' starts itself, which would never end", child.job);
    return child;
  }

 private:
  static std::string BaseName(std::string_view path) {
    while (path.ends_with('/')) path.remove_suffix(1);
    return std::string(path.substr(path.rfind('/') + 1));
  }

  // `timeout` may stand at the stage or inside its action, not at both.
  Duration Timeout(const Node& value, Duration fallback) const {
    const Node* outer = map_.FindKey("timeout");
    const Node* inner = value.FindKey("timeout");
    if (outer != nullptr && inner != nullptr)
      context_.problems.Add(std::max(outer->at, inner->at),
                            "'timeout' is given twice: at the stage and inside its action");
    return TimeOf(value, "timeout", TimeOf(map_, "timeout", fallback));
  }

  std::shared_ptr<Command> NewCommand(const Node& value, Duration timeout) const {
    auto command = std::make_shared<Command>();
    command->timeout = Timeout(value, timeout);
    command->max_output = SizeOf(value, "max_output", Command::kShareOfRun);
    return command;
  }

  void TakeScript(const Node& value, Command& command) {
    command.script = TextOf(value, "run");
    if (const Node* file = value.Find("file"); file != nullptr && file->IsText())
      command.script = ReadScript(*file);
    command.args = TextsOf(value.Find("args"));
    if (const Node* env = value.Find("env"); env != nullptr && env->IsMap()) TakeEnv(*env, command);
    command.stdin_data = TextOf(value, "stdin");
    command.user = TextOf(value, "user");
    command.folder = TextOf(value, "folder");
    command.interpreter = TextOf(value, "interpreter");
    if (const auto fits = CheckLengths(command); !fits)
      context_.problems.Add(value.at, "{}", fits.error().message);
    command.grace = TimeOf(value, "grace", command.grace);
    command.kill_leftovers = TextOf(value, "leftovers") == "kill";
  }

  void TakeEnv(const Node& env, Command& command) {
    for (std::size_t i = 0; i < env.keys.size(); ++i) {
      const std::string& name = env.keys[i].text;
      const Node& value = env.items[i];
      if (!value.IsText()) continue;
      if (!value.text.starts_with("secret:"))
        command.env.emplace_back(name, value.text);
      else if (IsSecretReference(value.text))
        command.secrets.push_back({name, value.text.substr(7)});
      else
        context_.problems.Add(value.at, "{}: expected the name of a secret after secret:", name);
    }
  }

  std::string Refused(const Node& file, const Error& error) const {
    context_.problems.Add(file.at, "'{}': {}", file.text, error.message);
    return "";
  }

  std::string ReadScript(const Node& file) {
    // A path that is refused is not even looked at.
    if (!CheckValue({.form = Form::kFile}, file.text)) return "";
    job_.files.push_back({FileReference::Use::kScript, stage_, file.text, file.at});
    // Once nothing more fits, no file is read any more.
    Result<> fits = context_.budget.TakeBytes(0);
    if (!fits) return Refused(file, fits.error());
    auto script = context_.scripts(context_.file, file.text);
    if (!script) {
      const auto& why = script.error().message;
      context_.problems.Add(
          file.at, "{}{}",
          why.starts_with("cannot read ") ? "" : fmt::format("cannot read '{}': ", file.text), why);
      return "";
    }
    fits = context_.budget.TakeBytes(script->size());
    if (script->size() > kMaxCommandBytes)
      fits = Fail(ErrorCode::kInvalid, "a script is at most {}; push it as a file instead",
                  FormatSize(kMaxCommandBytes));
    if (!fits) return Refused(file, fits.error());
    if (const auto good = CheckValue({.form = Form::kScript}, *script); !good)
      context_.problems.Add(file.at, "{}: {}", file.text, good.error().message);
    return std::move(*script);
  }

  void TakeResources(Command& command) const {
    const Node* resources = map_.Find("resources");
    if (resources == nullptr || !resources->IsMap()) return;
    command.resources.memory = SizeOf(*resources, "memory", 0);
    command.resources.processes = NumberOf(*resources, "processes", 0);
    if (const auto cpu = ParseCpu(TextOf(*resources, "cpu", "0"))) command.resources.cpu = *cpu;
    if (const auto good = CheckResources(command.resources); !good)
      context_.problems.Add(resources->at, "resources: {}", good.error().message);
  }

  const Context& context_;
  const Node& map_;  // the stage's
  std::uint32_t stage_;
  JobDocument& job_;
};

WaitAction Wait(const Context& context, const Node& value) {
  WaitAction wait;
  if (value.IsText()) {
    if (const auto time = ParseDuration(value.text)) wait.time = *time;
    return wait;
  }
  wait.time = TimeOf(value, "for", {});
  wait.until = TextOf(value, "until");
  const Node* until = value.Find("until");
  if (until != nullptr && until->IsText() && wait.until.find("${{") == std::string::npos &&
      !ParseTime(wait.until))
    context.problems.Add(until->at, "until: '{}' is not a time; write for example {}",
                         Shortened(wait.until), "2026-11-15T10:43:19Z");
  return wait;
}

}  // namespace

ApproveAction BuildApprove(const Context& context, const Node& value) {
  ApproveAction approve;
  approve.message = value.IsText() ? value.text : TextOf(value, "message");
  if (approve.message.size() > ApproveAction::kMostMessage)
    context.problems.Add(value.at, "the message of an approval is at most {}",
                         FormatSize(ApproveAction::kMostMessage));
  approve.by = TextsOf(value.Find("by"));
  approve.not_starter = TextOf(value, "not") == "starter";
  approve.timeout = TimeOf(value, "timeout", approve.timeout);
  return approve;
}

Action BuildAction(const Context& context, const Node& map, std::uint32_t action,
                   std::uint32_t stage, JobDocument& job) {
  ActionBuilder builder(context, map, stage, job);
  const auto value = [&](std::string_view key) -> const Node& { return *map.Find(key); };
  switch (action) {
    case kPushAction:
      return builder.Push(value("push"));
    case kPullAction:
      return builder.Pull(value("pull"));
    case kRebootAction:
      return builder.Restart(value("reboot"));
    case kStagesAction:
      return SequenceAction{};
    case kApproveAction:
      return builder.Approve(value("approve"));
    case kWaitAction:
      return Wait(context, value("wait"));
    case kHttpAction:
      return builder.Http(value("http"));
    case kConditionAction:
      return builder.Condition(value("condition"));
    case kNotifyAction:
      return NotifyAction{TextOf(value("notify"), "to"), TextOf(value("notify"), "message")};
    case kJobAction:
      return builder.Child(value("job"));
    default:
      return builder.Script(value("script"));
  }
}

}  // namespace muster::documents
