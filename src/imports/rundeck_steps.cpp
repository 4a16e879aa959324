#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "imports/rundeck_parts.hpp"
#include "imports/yaml_text.hpp"

namespace muster::imports {
namespace {

// Lines of a YAML text, one by one, so that they can be indented together.
void AddLines(std::vector<std::string>& lines, const std::string& text) {
  for (const auto line : Split(text, '\n')) lines.emplace_back(line);
}

bool IsShell(std::string_view script, std::string_view interpreter) {
  std::string_view what = interpreter;
  if (what.empty() && script.starts_with("#!")) what = script.substr(0, script.find('\n'));
  if (what.empty()) return true;
  constexpr std::string_view kOthers[] = {"python", "perl", "ruby",       "node",   "php",
                                          "lua",    "pwsh", "powershell", "groovy", "awk"};
  return std::ranges::none_of(kOthers, [&](auto word) { return what.contains(word); });
}

// "sudo -u web bash" runs as a user; the rest is the interpreter.
struct Runner {
  std::string user;
  std::string interpreter;
};

Runner RunnerOf(const std::string& text) {
  auto words = CutArguments(text);
  Runner runner;
  if (!words.empty() && (words.front() == "sudo" || words.front().ends_with("/sudo"))) {
    words.erase(words.begin());
    runner.user = "root";
    if (words.size() >= 2 && (words[0] == "-u" || words[0] == "--user")) {
      runner.user = words[1];
      words.erase(words.begin(), words.begin() + 2);
    }
  }
  runner.interpreter = fmt::format("{}", fmt::join(words, " "));
  return runner;
}

class StepWriter {
 public:
  StepWriter(const Node& step, std::string name, const StepContext& context)
      : step_(step), context_(context) {
    stage_.name = std::move(name);
    stage_.at = step.at;
  }

  StageText Write() {
    static constexpr std::string_view kTexts[] = {
        "exec",       "script",    "args", "scriptInterpreter", "interpreterArgsQuoted",
        "scriptfile", "scripturl", "type", "description"};
    LostUnlessTexts(step_, kTexts, "a step", context_.notes);
    if (!TextIn(step_, "exec").empty() && !TextIn(step_, "script").empty())
      context_.notes.Lost(At("script"),
                          "a step has a command and a script: the script was left out");
    if (const auto text = TextIn(step_, "exec"); !text.empty())
      Script(ShellText(text, At("exec"), context_, env_), "");
    else if (const auto script = TextIn(step_, "script"); !script.empty())
      InlineScript(script);
    else if (step_.Find("scriptfile") != nullptr || step_.Find("scripturl") != nullptr)
      MissingScript();
    else if (const Node* job = step_.Find("jobref"))
      JobReference(*job);
    else
      Plugin();
    Rest();
    return std::move(stage_);
  }

 private:
  Position At(std::string_view key) const {
    const Node* found = step_.FindKey(key);
    return found == nullptr ? step_.at : found->at;
  }

  void InlineScript(const std::string& script) {
    const auto interpreter = TextIn(step_, "scriptInterpreter");
    const bool shell = IsShell(script, interpreter);
    Script(shell ? ShellText(script, At("script"), context_, env_)
                 : OtherText(script, At("script"), context_, env_),
           interpreter);
  }

  void Script(const std::string& script, const std::string& interpreter) {
    auto runner = RunnerOf(interpreter);
    if (!interpreter.empty() && runner.user.empty())
      context_.notes.Over(At("scriptInterpreter"), "interpreter '{}'", interpreter);
    if (!runner.user.empty())
      context_.notes.Changed(At("scriptInterpreter"),
                             "'{}' is user: {}; the agents' run_as has to allow it", interpreter,
                             runner.user);
    if (FlagIn(step_, "interpreterArgsQuoted", false))
      context_.notes.Lost(At("interpreterArgsQuoted"),
                          "the interpreter gets the script as a file, and arguments one by one");
    stage_.lines.emplace_back("script:");
    AddLines(stage_.lines, "  run: " + YamlText(script, 4));
    if (!runner.interpreter.empty())
      stage_.lines.push_back("  interpreter: " + YamlQuoted(runner.interpreter));
    if (!runner.user.empty()) stage_.lines.push_back("  user: " + YamlQuoted(runner.user));
    Arguments();
    if (env_.empty()) return;
    stage_.lines.emplace_back("  env:");
    for (const auto& [name, value] : env_)
      stage_.lines.push_back(fmt::format("    {}: {}", name, YamlQuoted(value)));
  }

  void Arguments() {
    const auto text = TextIn(step_, "args");
    if (text.empty()) return;
    std::string list;
    for (const auto& word : CutArguments(text)) {
      const auto value = TemplateText(word, At("args"), context_);
      const bool secret = value && NamesSecret(*value);
      if (!value || secret) {
        context_.notes.Lost(At("args"),
                            "argument '{}' holds a secret, which is only given in the "
                            "environment: read $MUSTER_PARAM_…",
                            word);
        continue;
      }
      list += (list.empty() ? "" : ", ") + YamlQuoted(*value);
    }
    if (!list.empty()) stage_.lines.push_back(fmt::format("  args: [{}]", list));
  }

  bool NamesSecret(const std::string& value) const {
    return std::ranges::any_of(context_.options, [&](const auto& option) {
      return option.secret && value.contains(fmt::format("${{{{ params.{} }}}}", option.param));
    });
  }

  // A stage that fails and says why, where what it did was not part of the export.
  void Placeholder(const std::string& what) {
    std::string line = what;
    std::ranges::replace(line, '\'', '"');
    std::ranges::replace(line, '\n', ' ');
    std::erase_if(line, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    if (const auto brace = line.find("${{"); brace != std::string::npos) line.resize(brace);
    stage_.lines.emplace_back("script:");
    AddLines(stage_.lines, "  run: " + YamlText(fmt::format("echo '{}' >&2\nexit 1\n", line), 4));
  }

  void MissingScript() {
    const bool file = step_.Find("scriptfile") != nullptr;
    const auto where = TextIn(step_, file ? "scriptfile" : "scripturl");
    const auto at = At(file ? "scriptfile" : "scripturl");
    context_.notes.Lost(at,
                        "the script {} is not in the export: put it beside the document and "
                        "write script: {{file: …}} in stage '{}', which fails until then",
                        where, stage_.name);
    Placeholder("not carried over: the script " + where);
    Arguments();
  }

  void JobReference(const Node& reference) {
    auto title = TitleOf(TextIn(reference, "group"), TextIn(reference, "name"));
    if (const auto known = context_.book.titles.find(TextIn(reference, "uuid"));
        known != context_.book.titles.end())
      title = known->second;
    if (title.empty()) {
      context_.notes.Lost(reference.at,
                          "the job with the id '{}' is not among those imported, and the "
                          "reference has no name: import them together, or write a 'job' in stage "
                          "'{}', which fails until then",
                          TextIn(reference, "uuid"), stage_.name);
      return Placeholder("not carried over: a job without a name");
    }
    stage_.is_job = true;
    const auto* job = context_.book.Find(title);
    const auto name = job != nullptr ? job->name : JobNameOf(title);
    if (job == nullptr)
      context_.notes.Changed(reference.at,
                             "job '{}' is not among those imported: stage '{}' needs "
                             "a job '{}'",
                             title, stage_.name, name);
    else
      context_.notes.Over(reference.at, "job reference '{}'", title);
    stage_.lines.emplace_back("job:");
    stage_.lines.push_back("  name: " + YamlQuoted(name));
    JobArguments(reference, job);
    JobRest(reference);
  }

  void JobArguments(const Node& reference, const RundeckBook::Entry* job) {
    const auto words = CutArguments(TextIn(reference, "args"));
    std::vector<std::string> lines;
    std::set<std::string> given;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto& word = words[i];
      const bool pair = word.size() > 1 && word.starts_with('-') && i + 1 < words.size();
      const auto option = pair ? word.substr(1) : word;
      if (!pair) {
        context_.notes.Lost(reference.at, "argument '{}' of the job reference is no -option value",
                            word);
        continue;
      }
      const auto value = TemplateText(words[++i], reference.at, context_);
      if (!value) {
        context_.notes.Lost(reference.at,
                            "option '{}' of the job reference puts a secret among "
                            "other text",
                            option);
        continue;
      }
      const auto param = ParamOf(job, option);
      if (given.insert(param).second)
        lines.push_back(fmt::format("    {}: {}", param, YamlQuoted(*value)));
    }
    if (lines.empty()) return;
    stage_.lines.emplace_back("  params:");
    stage_.lines.insert(stage_.lines.end(), lines.begin(), lines.end());
  }

  static std::string ParamOf(const RundeckBook::Entry* job, const std::string& option) {
    if (job != nullptr)
      for (const auto& known : job->options)
        if (known.name == option) return known.param;
    const auto slug = Slug(option, "_-", '_', 60);
    return slug.empty() || slug.front() < 'a' ? "p_" + slug : slug;
  }

  void JobRest(const Node& reference) {
    for (const auto& key : reference.keys) {
      const auto& name = key.text;
      if (name == "nodeStep") {
        if (!FlagIn(reference, "nodeStep", false)) continue;
        stage_.lines.emplace_back("batches: [1]");
        context_.notes.Changed(key.at,
                               "the job is started once for each host, one after the other");
      } else if (name == "nodefilters") {
        context_.notes.Lost(key.at,
                            "the referenced job runs on this stage's hosts; give it a stage "
                            "in a job with other targets instead");
      } else if (name != "name" && name != "group" && name != "uuid" && name != "args" &&
                 name != "useName" && name != "project") {
        context_.notes.Lost(key.at, "'{}' of the job reference has no counterpart", name);
      }
    }
  }

  void Plugin() {
    const auto type = TextIn(step_, "type");
    if (type.empty()) {
      context_.notes.Lost(step_.at,
                          "step '{}' has no command that could be read (exec, script, scriptfile, "
                          "scripturl, jobref or a plugin): write a script in stage '{}', which "
                          "fails until then",
                          stage_.name, stage_.name);
      return Placeholder("not carried over: a step without a command");
    }
    std::string keys;
    if (const Node* configuration = step_.Find("configuration"))
      for (const auto& key : configuration->keys) keys += (keys.empty() ? "" : ", ") + key.text;
    context_.notes.Lost(step_.at,
                        "step '{}' is of plugin '{}' (it configures: {}): write a script "
                        "in stage '{}', which fails until then",
                        stage_.name, type, keys.empty() ? "nothing" : keys, stage_.name);
    Placeholder("not carried over: a step of the plugin " + type);
  }

  void Rest() {
    static const std::set<std::string_view> kKnown = {"exec",
                                                      "script",
                                                      "scriptfile",
                                                      "scripturl",
                                                      "jobref",
                                                      "args",
                                                      "type",
                                                      "nodeStep",
                                                      "configuration",
                                                      "description",
                                                      "errorhandler",
                                                      "scriptInterpreter",
                                                      "interpreterArgsQuoted",
                                                      "keepgoingOnSuccess"};
    for (const auto& key : step_.keys) {
      if (kKnown.contains(key.text)) continue;
      if (key.text == "fileExtension" || key.text == "autoSecureInput" ||
          key.text == "passSecureInput" || key.text == "expandTokenInScriptFile")
        context_.notes.Lost(key.at, "'{}' says nothing here; nothing to do", key.text);
      else
        context_.notes.Lost(key.at, "'{}' of a step has no counterpart", key.text);
    }
  }

  const Node& step_;
  const StepContext& context_;
  StageText stage_;
  Variables env_;
};

}  // namespace

StageText StageOf(const Node& step, std::string name, const StepContext& context) {
  return StepWriter(step, std::move(name), context).Write();
}

}  // namespace muster::imports
