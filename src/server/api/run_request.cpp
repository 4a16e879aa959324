#include "server/api/run_request.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <boost/json.hpp>

#include "base/text.hpp"
#include "domain/batches.hpp"
#include "domain/secret.hpp"
#include "server/api/file_request.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

// Reads fields of an object one by one; the first problem stays.
class Reader {
 public:
  Reader(const json::object& object, std::string prefix)
      : object_(object), prefix_(std::move(prefix)) {}

  std::string Text(std::string_view name) {
    const json::value* value = Find(name);
    if (value == nullptr) return {};
    if (value->is_string()) return std::string(value->as_string());
    return Bad(name, "a string"), std::string{};
  }
  std::string Base64(std::string_view name) {
    const auto bytes = FromBase64(Text(name));
    if (!bytes) Bad(name, "base64");
    return bytes.value_or("");
  }
  bool Flag(std::string_view name) {
    const json::value* value = Find(name);
    if (value == nullptr) return false;
    if (value->is_bool()) return value->as_bool();
    return Bad(name, "true or false"), false;
  }
  std::uint64_t Number(std::string_view name, std::uint64_t otherwise, std::uint64_t most) {
    const json::value* value = Find(name);
    if (value == nullptr) return otherwise;
    boost::system::error_code problem;
    const auto number = value->to_number<std::uint64_t>(problem);
    if (problem || number > most)
      return Bad(name, fmt::format("a whole number up to {}", most)), otherwise;
    return number;
  }
  // A number with a fraction, in thousandths; what is not 0 never becomes 0.
  std::uint32_t Thousandths(std::string_view name) {
    const json::value* value = Find(name);
    if (value == nullptr) return 0;
    boost::system::error_code problem;
    const auto number = value->is_number() ? value->to_number<double>(problem) : -1;
    if (problem || number < 0 || number > 1'000'000)
      return Bad(name, "a number of processors, for example 1.5"), 0;
    return static_cast<std::uint32_t>(std::ceil(number * 1000 - 1e-6));
  }
  std::vector<std::string> Texts(std::string_view name) {
    std::vector<std::string> texts;
    const json::value* value = Find(name);
    if (value == nullptr) return texts;
    if (!value->is_array()) return Bad(name, "a list of strings"), texts;
    for (const auto& item : value->as_array()) {
      if (!item.is_string()) return Bad(name, "a list of strings"), texts;
      texts.emplace_back(item.as_string());
    }
    return texts;
  }
  const json::object* Object(std::string_view name) {
    const json::value* value = Find(name);
    if (value == nullptr) return nullptr;
    if (value->is_object()) return &value->as_object();
    return Bad(name, "an object"), nullptr;
  }
  bool Has(std::string_view name) { return Find(name) != nullptr; }
  template <typename T>
  T Parsed(std::string_view name, Result<T> (*parse)(std::string_view)) {
    const std::string text = Text(name);
    if (text.empty()) return T{};
    auto parsed = parse(text);
    if (parsed) return *std::move(parsed);
    if (ok_) ok_ = Fail(ErrorCode::kInvalid, "{}{}: {}", prefix_, name, parsed.error().message);
    return T{};
  }
  // Call last: what was not asked for is not known.
  Result<> Done() {
    for (const auto& item : object_)
      if (ok_ && !asked_.contains(std::string(item.key())))
        ok_ = Fail(ErrorCode::kInvalid, "unknown field '{}{}'", prefix_,
                   std::string_view(item.key()));
    return ok_;
  }

 private:
  const json::value* Find(std::string_view name) {
    asked_.insert(std::string(name));
    const auto* value = object_.if_contains(name);
    return value == nullptr || value->is_null() ? nullptr : value;
  }
  void Bad(std::string_view name, std::string_view expected) {
    if (ok_) ok_ = Fail(ErrorCode::kInvalid, "{}{}: expected {}", prefix_, name, expected);
  }

  const json::object& object_;
  std::string prefix_;
  std::set<std::string> asked_;
  Result<> ok_;
};

constexpr std::uint64_t kMostMs = 3650ULL * 86'400'000;

Result<> ReadWhat(const json::object& object, Command& command) {
  Reader reader(object, "command.");
  command.argv = reader.Texts("argv");
  command.script = reader.Text("script");
  if (auto bytes = reader.Base64("script_base64"); !bytes.empty())
    command.script = std::move(bytes);
  command.interpreter = reader.Text("interpreter");
  command.args = reader.Texts("args");
  if (const auto done = reader.Done(); !done) return done;
  if (command.argv.empty() == command.script.empty())
    return Fail(ErrorCode::kInvalid,
                "command: give either argv (words, executed without a shell) or script");
  if (!command.argv.empty() && command.argv.front().empty())
    return Fail(ErrorCode::kInvalid,
                "command.argv: the first word names the program and cannot be empty");
  const auto has_nul = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  for (const auto& word : command.argv)
    if (has_nul(word)) return Fail(ErrorCode::kInvalid, "command.argv: a word holds a zero byte");
  for (const auto& word : command.args)
    if (has_nul(word)) return Fail(ErrorCode::kInvalid, "command.args: a word holds a zero byte");
  return {};
}

Result<> ReadEnv(const json::object* env, Command& command) {
  if (env == nullptr) return {};
  for (const auto& item : *env) {
    const std::string key(item.key());
    if (!item.value().is_string())
      return Fail(ErrorCode::kInvalid, "env.{}: expected a string", key);
    std::string value(item.value().as_string());
    if (key.empty() || key.find('=') != std::string::npos || key.find('\0') != std::string::npos ||
        value.find('\0') != std::string::npos)
      return Fail(ErrorCode::kInvalid, "env: '{}' cannot be a variable", key);
    command.env.emplace_back(key, std::move(value));
  }
  return {};
}

Result<> ReadSecrets(const json::object* secrets, Command& command) {
  if (secrets == nullptr) return {};
  for (const auto& item : *secrets) {
    const std::string variable(item.key());
    if (variable.empty() || variable.find_first_of(std::string_view("=\0", 2)) != std::string::npos)
      return Fail(ErrorCode::kInvalid, "secrets: '{}' cannot be a variable", variable);
    if (!item.value().is_string())
      return Fail(ErrorCode::kInvalid, "secrets.{}: expected the name of a secret", variable);
    std::string name(item.value().as_string());
    if (const auto good = CheckSecretName(name); !good)
      return Fail(ErrorCode::kInvalid, "secrets.{}: {}", variable, good.error().message);
    command.secrets.push_back({.variable = variable, .secret = std::move(name)});
  }
  if (!command.IsProcess())
    return Fail(ErrorCode::kInvalid, "secrets: only commands and scripts have an environment");
  return {};
}

Result<> ReadResources(const json::object* object, Command& command) {
  if (object == nullptr) return {};
  Reader reader(*object, "resources.");
  command.resources.memory = reader.Number("memory", 0, UINT64_MAX);
  command.resources.cpu = reader.Thousandths("cpu");
  command.resources.processes =
      static_cast<std::uint32_t>(reader.Number("processes", 0, UINT32_MAX));
  if (const auto done = reader.Done(); !done) return done;
  if (const auto fits = CheckResources(command.resources); !fits)
    return Fail(ErrorCode::kInvalid, "resources.{}", fits.error().message);
  return {};
}

std::string TitleOf(const Command& command) {
  std::string title;
  if (command.argv.empty()) {
    for (const auto line : Split(command.script, '\n')) {
      const auto text = Trim(line);
      if (text.empty() || text.starts_with("#!")) continue;
      title = text;
      break;
    }
  } else {
    for (const auto& word : command.argv) title += (title.empty() ? "" : " ") + word;
  }
  if (title.size() > 120) title.resize(120);
  while (!title.empty() && !IsUtf8(title)) title.pop_back();
  return title.empty() ? "script" : title;
}

}  // namespace

Result<> CheckTitle(std::string_view title) {
  constexpr std::ptrdiff_t kMost = 200;
  // Every character has one byte that does not go on with another.
  const auto characters = std::ranges::count_if(
      title, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  if (characters <= kMost) return {};
  return Fail(ErrorCode::kInvalid, "title: at most {} characters, and this one has {}", kMost,
              characters);
}

Result<> CheckReason(std::string_view reason) {
  constexpr std::size_t kMost = 1000;
  if (reason.size() <= kMost) return {};
  return Fail(ErrorCode::kInvalid, "reason: at most {} bytes", kMost);
}

Result<RunRequest> ReadRunRequest(const json::object& body, bool& too_large) {
  too_large = false;
  RunRequest request;
  StageSpec stage;
  Command command;
  Reader reader(body, "");
  request.spec.targets = reader.Text("targets");
  request.exclude = reader.Text("exclude");
  request.ignore_missing = reader.Flag("ignore_missing");
  request.during_freeze = reader.Flag("during_freeze");
  request.include_maintenance = reader.Flag("include_maintenance");
  request.require_all = reader.Flag("require_all");
  const json::object* what = reader.Object("command");
  const json::object* push = reader.Object("push");
  const json::object* pull = reader.Object("pull");
  command.stdin_data = reader.Base64("stdin_base64");
  const json::object* env = reader.Object("env");
  const json::object* secrets = reader.Object("secrets");
  command.user = reader.Text("user");
  command.folder = reader.Text("folder");
  command.timeout = Duration(reader.Number("timeout_ms", 3'600'000, kMostMs));
  command.grace = Duration(reader.Number("grace_ms", 10'000, 86'400'000));
  command.max_output = reader.Number("max_output", Command::kShareOfRun, 1ULL << 40);
  const std::string leftovers = reader.Text("leftovers");
  const json::object* resources = reader.Object("resources");
  stage.concurrency = static_cast<std::uint32_t>(reader.Number("concurrency", 0, 1'000'000));
  stage.batches = reader.Parsed<BatchPlan>("batches", ParseBatchPlan);
  stage.max_failures = reader.Parsed<HostShare>("max_failures", ParseHostShare);
  if (reader.Has("max_unreachable"))
    stage.max_unreachable = reader.Parsed<HostShare>("max_unreachable", ParseHostShare);
  stage.wait_offline = Duration(reader.Number("wait_offline_ms", 15'000, kMostMs));
  request.spec.title = reader.Text("title");
  request.reason = reader.Text("reason");
  if (const auto done = reader.Done(); !done) return Fail(done.error());
  if (const auto fits = CheckTitle(request.spec.title); !fits) return Fail(fits.error());
  if (const auto fits = CheckReason(request.reason); !fits) return Fail(fits.error());
  if (request.spec.targets.empty())
    return Fail(ErrorCode::kInvalid, "targets: say which hosts, for example 'web*' or 'all'");
  if ((what != nullptr) + (push != nullptr) + (pull != nullptr) != 1)
    return Fail(ErrorCode::kInvalid,
                "command: expected an object with argv or script; or push or pull instead");
  if (what != nullptr)
    if (const auto read = ReadWhat(*what, command); !read) return Fail(read.error());
  if (const auto read = ReadFileAction(push, pull, command); !read) return Fail(read.error());
  if (const auto fits = CheckLengths(command); !fits) return Fail(fits.error());
  if (env != nullptr && !env->empty() && !command.IsProcess())
    return Fail(ErrorCode::kInvalid, "env: only commands and scripts have an environment");
  if (const auto read = ReadEnv(env, command); !read) return Fail(read.error());
  if (const auto read = ReadSecrets(secrets, command); !read) return Fail(read.error());
  if (const auto read = ReadResources(resources, command); !read) return Fail(read.error());
  if (!leftovers.empty() && leftovers != "keep" && leftovers != "kill")
    return Fail(ErrorCode::kInvalid, "leftovers: expected keep or kill");
  command.kill_leftovers = leftovers == "kill";
  if (command.script.size() + command.stdin_data.size() > kMaxCommandBytes) {
    too_large = true;
    return Fail(ErrorCode::kInvalid,
                "script and stdin are {} together, at most {} fit an order; put large data into a "
                "file and fetch it from the script",
                FormatSize(command.script.size() + command.stdin_data.size()),
                FormatSize(kMaxCommandBytes));
  }
  if (request.spec.title.empty())
    request.spec.title = command.MovesFiles() ? FileTitle(command) : TitleOf(command);
  stage.action = std::make_shared<const Command>(std::move(command));
  request.spec.stages.push_back(std::move(stage));
  return request;
}

}  // namespace muster::server::api
