#include "cli/runs/run_request.hpp"

#include <algorithm>
#include <array>

#include <boost/json.hpp>

#include "base/instant.hpp"
#include "base/text.hpp"
#include "cli/terminal/times.hpp"
#include "domain/batches.hpp"
#include "domain/command.hpp"
#include "domain/targets.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

// A shell would have acted on these; as plain arguments they are nearly always a mistake.
bool IsShellSign(std::string_view word) {
  constexpr std::array<std::string_view, 9> kSigns{"|",  "&&", "||", ";",   ">",
                                                   ">>", "<",  "&",  "2>&1"};
  return std::ranges::find(kSigns, word) != kSigns.end();
}

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

json::array Strings(const std::vector<std::string>& texts) {
  json::array array;
  for (const auto& text : texts) array.emplace_back(text);
  return array;
}

void PutScript(json::object& command, const std::string& script) {
  if (IsUtf8(script))
    command["script"] = script;
  else
    command["script_base64"] = ToBase64(script);
}

Result<json::object> CommandOf(const RunOptions& options, const RunInputs& inputs) {
  json::object command;
  const auto& words = options.words;
  if (!options.script_file.empty()) {
    if (inputs.script.empty())
      return Fail(ErrorCode::kInvalid, "the script '{}' is empty", options.script_file);
    PutScript(command, inputs.script);
    command["interpreter"] = options.interpreter;
    command["args"] = Strings(words);
    return command;
  }
  if (words.empty() || (words.size() == 1 && Trim(words.front()).empty()))
    return Fail(ErrorCode::kInvalid,
                "expected a command after --, or --script FILE; for example: muster run -t web1 -- "
                "uptime");
  if (words.size() == 1) {
    PutScript(command, words.front());
    command["interpreter"] = options.interpreter.empty() ? "/bin/sh" : options.interpreter;
    return command;
  }
  if (const auto sign = std::ranges::find_if(words, IsShellSign); sign != words.end())
    return Fail(
        ErrorCode::kInvalid,
        "'{}' means nothing without a shell: quote the whole line, for example: -- 'a {} b'", *sign,
        *sign);
  if (!options.interpreter.empty())
    return Fail(ErrorCode::kInvalid,
                "--interpreter goes with one quoted line or with --script, not with several words");
  for (const auto& word : words)
    if (!IsUtf8(word))
      return Fail(ErrorCode::kInvalid, "an argument is not UTF-8 text; put it into a --script");
  command["argv"] = Strings(words);
  return command;
}

Result<> PutEnv(json::object& body, const std::vector<std::string>& env) {
  json::object object;
  for (const auto& pair : env) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos || equals == 0)
      return Fail(ErrorCode::kInvalid, "--env '{}': expected NAME=VALUE", pair);
    object[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  if (!object.empty()) body["env"] = std::move(object);
  return {};
}

Result<> PutSecrets(json::object& body, const std::vector<std::string>& secrets) {
  json::object object;
  for (const auto& pair : secrets) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == pair.size())
      return Fail(ErrorCode::kInvalid, "--secret '{}': expected VARIABLE=NAME-OF-A-SECRET", pair);
    object[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  if (!object.empty()) body["secrets"] = std::move(object);
  return {};
}

Result<> PutDuration(json::object& body, const char* field, std::string_view option,
                     std::string_view text, Duration most) {
  const auto duration = Lasting(option, text, Duration(0), most);
  if (!duration) return Fail(duration.error());
  body[field] = duration->count();
  return {};
}

Result<> PutLimits(json::object& body, const RunOptions& options) {
  constexpr std::chrono::days kDay(1);
  constexpr std::chrono::days kTenYears(3650);
  if (auto ok = PutDuration(body, "timeout_ms", "--timeout", options.timeout, kTenYears); !ok)
    return ok;
  if (auto ok = PutDuration(body, "grace_ms", "--grace", options.grace, kDay); !ok) return ok;
  if (auto ok =
          PutDuration(body, "wait_offline_ms", "--wait-offline", options.wait_offline, kTenYears);
      !ok)
    return ok;
  if (!options.max_output.empty()) {
    const auto size = ParseSize(options.max_output);
    if (!size) return Fail(ErrorCode::kInvalid, "--max-output: {}", size.error().message);
    body["max_output"] = *size;
  }
  if (const auto plan = ParseBatchPlan(options.batches); !plan)
    return Fail(ErrorCode::kInvalid, "--batches: {}", plan.error().message);
  if (const auto share = ParseHostShare(options.max_failures); !share)
    return Fail(ErrorCode::kInvalid, "--max-failures: {}", share.error().message);
  if (const auto share = ParseHostShare(options.max_unreachable);
      !options.max_unreachable.empty() && !share)
    return Fail(ErrorCode::kInvalid, "--max-unreachable: {}", share.error().message);
  if (!options.max_unreachable.empty()) body["max_unreachable"] = options.max_unreachable;
  if (!options.batches.empty()) body["batches"] = options.batches;
  body["max_failures"] = options.max_failures;
  body["concurrency"] = options.concurrency;
  return {};
}

Result<> PutResources(json::object& body, const RunOptions& options) {
  Resources resources{.processes = options.processes};
  if (!options.memory.empty()) {
    const auto memory = ParseSize(options.memory);
    if (IsNumber(options.memory))
      return memory && *memory == 0
                 ? Fail(ErrorCode::kInvalid, "--memory: 0 is no limit; leave the option out")
                 : Fail(ErrorCode::kInvalid, "--memory: '{0}' has no unit; write {0}M or {0}G",
                        options.memory);
    if (!memory) return Fail(ErrorCode::kInvalid, "--memory: {}", memory.error().message);
    resources.memory = *memory;
  }
  if (!options.cpu.empty()) {
    const auto cpu = ParseCpu(options.cpu);
    if (!cpu) return Fail(ErrorCode::kInvalid, "--cpu: {}", cpu.error().message);
    if (*cpu == 0)
      return Fail(ErrorCode::kInvalid,
                  "--cpu: 0 is no limit; leave the option out, or write for example 0.5");
    resources.cpu = *cpu;
  }
  if (const auto fits = CheckResources(resources); !fits)
    return Fail(ErrorCode::kInvalid, "--{}", fits.error().message);
  json::object object;
  if (resources.memory != 0) object["memory"] = resources.memory;
  if (resources.cpu != 0) object["cpu"] = resources.cpu / 1000.0;
  if (resources.processes != 0) object["processes"] = resources.processes;
  if (!object.empty()) body["resources"] = std::move(object);
  return {};
}

Result<> PutTargets(json::object& body, const RunOptions& options) {
  if (const auto parsed = TargetExpression::Parse(options.targets); !parsed)
    return Fail(parsed.error());
  body["targets"] = options.targets;
  if (!options.exclude.empty()) {
    if (const auto parsed = TargetExpression::Parse(options.exclude); !parsed)
      return Fail(ErrorCode::kInvalid, "--exclude: {}", parsed.error().message);
    body["exclude"] = options.exclude;
  }
  if (options.ignore_missing) body["ignore_missing"] = true;
  if (options.during_freeze) body["during_freeze"] = true;
  if (options.include_maintenance) body["include_maintenance"] = true;
  if (options.require_all) body["require_all"] = true;
  return {};
}

}  // namespace

Result<json::object> RunFrame(const RunOptions& options) {
  json::object body;
  if (auto ok = PutTargets(body, options); !ok) return Fail(ok.error());
  if (auto ok = PutLimits(body, options); !ok) return Fail(ok.error());
  if (!options.user.empty()) body["user"] = options.user;
  if (!options.title.empty()) body["title"] = options.title;
  if (!options.reason.empty()) body["reason"] = options.reason;
  return body;
}

Result<json::value> RunBody(const RunOptions& options, const RunInputs& inputs) {
  auto frame = RunFrame(options);
  if (!frame) return Fail(frame.error());
  json::object body = std::move(*frame);
  auto command = CommandOf(options, inputs);
  if (!command) return Fail(command.error());
  body["command"] = std::move(*command);
  if (inputs.script.size() + inputs.stdin_data.size() > kMaxCommandBytes)
    return Fail(ErrorCode::kInvalid,
                "script and stdin are {} together, at most {} are sent; put large data into a file "
                "on the hosts",
                FormatSize(inputs.script.size() + inputs.stdin_data.size()),
                FormatSize(kMaxCommandBytes));
  if (!inputs.stdin_data.empty()) body["stdin_base64"] = ToBase64(inputs.stdin_data);
  if (auto ok = PutEnv(body, options.env); !ok) return Fail(ok.error());
  if (auto ok = PutSecrets(body, options.secrets); !ok) return Fail(ok.error());
  if (options.leftovers != "keep" && options.leftovers != "kill")
    return Fail(ErrorCode::kInvalid, "--leftovers: expected keep or kill, found '{}'",
                options.leftovers);
  body["leftovers"] = options.leftovers;
  if (auto ok = PutResources(body, options); !ok) return Fail(ok.error());
  if (!options.folder.empty()) body["folder"] = options.folder;
  return json::value(std::move(body));
}

}  // namespace muster::cli
