#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "imports/rundeck_parts.hpp"
#include "imports/yaml_text.hpp"

namespace muster::imports {
namespace {

std::string ParamName(std::string_view option) {
  auto name = Slug(option, "_-", '_', 60);
  if (name.empty() || name.front() < 'a') name = "p_" + name;
  return name;
}

// Both forms that exports have: a list of maps, and a map by name.
std::vector<std::pair<std::string, const Node*>> Each(const Node* node) {
  std::vector<std::pair<std::string, const Node*>> list;
  if (node == nullptr) return list;
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    const Node& item = node->items[i];
    list.emplace_back(node->IsMap() ? node->keys[i].text : TextIn(item, "name"), &item);
  }
  return list;
}

// Also when the export does not say it in so many words: a password must not become a plain text.
bool IsSecret(const Node& option) {
  const Node* secure = option.Find("secure");
  if (secure == nullptr) return false;
  const std::string text(Trim(TextIn(option, "secure")));
  return !secure->IsText() || (!text.empty() && text != "false");
}

bool IsAlways(const Node& option) {
  return FlagIn(option, "required", false) || !TextIn(option, "value").empty();
}

// A secure option that scripts do not see logged in to hosts; agents need no such thing.
bool IsForLogin(const Node& option) {
  return IsSecret(option) && !FlagIn(option, "valueExposed", false);
}

bool PatternFits(const std::string& pattern) {
  const documents::Source probe{
      "probe", fmt::format("apiVersion: muster/v1\nkind: job\nname: probe\nparams: {{p: {{pattern: "
                           "{}}}}}\nstages: [{{name: s, script: 'true'}}]\n",
                           YamlQuoted(pattern))};
  return documents::ReadDocuments({&probe, 1},
                                  [](const auto&, const auto&) -> Result<std::string> {
                                    return Fail(ErrorCode::kNotFound, "none");
                                  })
      .problems.empty();
}

class ParamWriter {
 public:
  ParamWriter(const std::string& name, const Node& node, JobNotes& notes)
      : name_(name), node_(node), notes_(notes) {}

  std::string Lines(const std::string& param) {
    static constexpr std::string_view kTexts[] = {
        "value",    "description", "storagePath", "regex",        "delimiter",
        "required", "enforced",    "multivalued", "valueExposed", "secure"};
    LostUnlessTexts(node_, kTexts, fmt::format("option '{}'", name_), notes_);
    text_ = fmt::format("  {}:\n", YamlText(param, 0));
    if (IsSecret(node_))
      Secret();
    else
      Plain();
    if (FlagIn(node_, "required", false) && !has_default_) Key("required", "true");
    const auto description = TextIn(node_, "description");
    if (!description.empty()) Key("description", YamlText(description, 6));
    Rest();
    // A key with nothing behind it is a parameter as well.
    return text_;
  }

 private:
  void Key(std::string_view key, std::string_view value) {
    text_ += fmt::format("    {}: {}\n", key, value);
  }

  Position At(std::string_view key) const {
    const Node* found = node_.FindKey(key);
    return found == nullptr ? node_.at : found->at;
  }

  void Secret() {
    Key("type", "secret");
    const auto path = TextIn(node_, "storagePath");
    if (path.empty()) {
      notes_.Changed(node_.at,
                     "option '{}' takes the name of a secret, -p {}=secret:NAME; keep "
                     "values with 'muster secrets set NAME'",
                     name_, name_);
      return;
    }
    const auto secret = Slug(path.starts_with("keys/") ? path.substr(5) : path, "._-", '.', 90);
    Key("default", YamlQuoted("secret:" + secret));
    has_default_ = true;
    notes_.Changed(At("storagePath"),
                   "option '{}' is secret '{}': put the value of {} there with "
                   "'muster secrets set {}'",
                   name_, secret, path, secret);
  }

  void Plain() {
    const auto values = Choices();
    const bool enforced = FlagIn(node_, "enforced", false);
    const bool several = FlagIn(node_, "multivalued", false);
    const bool choice = enforced && !values.empty() && !several;
    if (choice) {
      Key("type", "choice");
      std::string list;
      for (const auto& value : values) list += (list.empty() ? "" : ", ") + YamlQuoted(value);
      Key("choices", "[" + list + "]");
    } else if (!values.empty()) {
      notes_.Lost(At("values"), "option '{}': its {} values are not held to; use a pattern", name_,
                  values.size());
    }
    if (several)
      notes_.Changed(At("multivalued"), "option '{}' is one text with its values between '{}'",
                     name_, TextIn(node_, "delimiter"));
    Default(choice, values);
    Pattern(choice);
  }

  std::vector<std::string> Choices() const {
    std::set<std::string> seen;
    std::vector<std::string> values;
    if (const Node* node = node_.Find("values"))
      for (const auto& item : node->items)
        if (item.IsText() && seen.insert(item.text).second) values.push_back(item.text);
    return values;
  }

  void Default(bool choice, const std::vector<std::string>& values) {
    const auto value = TextIn(node_, "value");
    if (value.empty()) return;
    if (choice && std::ranges::find(values, value) == values.end())
      return notes_.Lost(At("value"), "option '{}': its default '{}' is not one of its values",
                         name_, value);
    if (value.contains("${"))
      return notes_.Lost(At("value"), "option '{}': its default '{}' would have to be computed",
                         name_, value);
    Key("default", YamlQuoted(value));
    has_default_ = true;
  }

  // Rundeck's must match the whole value.
  void Pattern(bool choice) {
    const auto regex = TextIn(node_, "regex");
    if (regex.empty() || choice) return;
    const auto pattern = "^(?:" + regex + ")$";
    if (PatternFits(pattern))
      Key("pattern", YamlQuoted(pattern));
    else
      notes_.Lost(At("regex"), "option '{}': the pattern {} is not RE2; write another", name_,
                  regex);
  }

  void Rest() {
    static const std::set<std::string_view> kKnown = {
        "name",  "description", "value",     "values", "required",    "enforced",
        "regex", "multivalued", "delimiter", "secure", "storagePath", "valueExposed"};
    static const std::set<std::string_view> kShown = {"sortIndex",
                                                      "label",
                                                      "sortValues",
                                                      "hidden",
                                                      "isDate",
                                                      "dateFormat",
                                                      "multivalueAllSelected",
                                                      "valuesListDelimiter",
                                                      "optionValuesPluginType"};
    for (const auto& key : node_.keys) {
      if (kKnown.contains(key.text)) continue;
      if (kShown.contains(key.text))
        notes_.Lost(key.at, "option '{}': '{}' is about Rundeck's form; nothing to do", name_,
                    key.text);
      else if (key.text == "valuesUrl")
        notes_.Lost(key.at, "option '{}': values are not fetched; use a pattern or choices", name_);
      else
        notes_.Lost(key.at, "option '{}': '{}' has no counterpart", name_, key.text);
    }
  }

  const std::string& name_;
  const Node& node_;
  JobNotes& notes_;
  std::string text_;
  bool has_default_ = false;
};

}  // namespace

RundeckOptions OptionsOf(const Node* node) {
  RundeckOptions options;
  std::set<std::string> taken;
  for (const auto& [name, option] : Each(node)) {
    if (options.size() == kMaxParams) break;
    if (name.empty() || IsForLogin(*option)) continue;
    auto param = ParamName(name);
    while (!taken.insert(param).second) param += "_";
    options.push_back({name, param, IsSecret(*option), IsAlways(*option)});
  }
  return options;
}

std::string ParamsOf(const Node* node, RundeckOptions& options, JobNotes& notes) {
  options = OptionsOf(node);
  std::string text;
  std::size_t written = 0;
  for (const auto& [name, option] : Each(node)) {
    if (written == kMaxParams) {
      notes.Lost(option->at,
                 "a job has at most {} parameters: the options from here on were left out",
                 kMaxParams);
      break;
    }
    if (name.empty()) {
      notes.Lost(option->at, "an option without a name");
      continue;
    }
    const auto made = std::ranges::find(options, name, &RundeckOption::name);
    if (made == options.end()) {
      notes.Lost(option->at, "option '{}' logged in to hosts, which agents need not; nothing to do",
                 name);
      continue;
    }
    text += ParamWriter(name, *option, notes).Lines(made->param);
    ++written;
    if (made->param != name)
      notes.Changed(option->at, "option '{}' is parameter '{}'", name, made->param);
    else
      notes.Over(option->at, "option '{}'", name);
  }
  return text.empty() ? "" : "params:\n" + text;
}

}  // namespace muster::imports
