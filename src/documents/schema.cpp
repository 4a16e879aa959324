#include "documents/schema.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "documents/problems.hpp"

namespace muster::documents {
namespace {

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

template <typename Items>
std::string List(const Items& items) {
  std::vector<std::string> quoted;
  for (const auto& item : items) quoted.push_back(Quoted(item));
  return fmt::format("[{}]", fmt::join(quoted, ","));
}

std::string NameInSchema(const Shape& shape) {
  std::string name(shape.name);
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string Pattern(std::string_view pattern) {
  return fmt::format(R"({{"type":"string","pattern":{}}})", Quoted(pattern));
}

// Members of an object that say what a single value looks like. YAML gives editors numbers and
// flags where Muster takes the characters that were typed.
std::string Single(const Value& value) {
  switch (value.form) {
    case Form::kChoice:
      return fmt::format(R"({{"enum":{}}})", List(value.choices));
    case Form::kFlag:
      return R"({"type":"boolean"})";
    case Form::kInteger:
      return fmt::format(R"({{"type":"integer","minimum":{},"maximum":{}}})", value.least,
                         value.most);
    case Form::kDuration:
      return R"({"type":["string","integer"],"pattern":"^([0-9]+|([0-9]+(ms|s|m|h|d))+)$"})";
    case Form::kShare:
      return R"({"type":["string","integer"],"pattern":"^[0-9]+%?$","minimum":0})";
    case Form::kBatches:
    case Form::kSize:
    case Form::kRate:
    case Form::kMode:
      return R"({"type":["string","integer"]})";
    case Form::kCpu:
    case Form::kNumber:
      return R"({"type":["string","number"]})";
    case Form::kStage:
    case Form::kParam:
      return Pattern("^[a-z][a-z0-9_-]*$");
    case Form::kName:
    case Form::kHost:
      return Pattern("^[A-Za-z0-9][A-Za-z0-9._-]*$");
    case Form::kSecret:
      return Pattern("^secret:.+$");
    case Form::kVariable:
      return Pattern("^(?!MUSTER_)[A-Za-z_][A-Za-z0-9_]*$");
    case Form::kText:
    case Form::kTemplate:
    case Form::kCondition:
      return R"({"type":["string","number","boolean"]})";
    case Form::kProse:
    case Form::kHosts:
    case Form::kLabel:
    case Form::kOutput:
    case Form::kHeader:
    case Form::kStatus:
    case Form::kOwner:
    case Form::kTargets:
    case Form::kPattern:
    case Form::kPath:
    case Form::kFile:
    case Form::kPointer:
    case Form::kReading:
    case Form::kAddress:
    case Form::kScript:
      return R"({"type":"string"})";
  }
  return "{}";
}

std::string Behind(const Type& type) {
  std::vector<std::string> forms;
  if (type.value) forms.push_back(Single(*type.value));
  if (type.item)
    forms.push_back(fmt::format(R"({{"type":"array","items":{},"minItems":{}}})",
                                Behind(*type.item), type.must_hold_something ? 1 : 0));
  if (type.map != nullptr)
    forms.push_back(fmt::format(R"({{"$ref":"#/$defs/{}"}})", NameInSchema(*type.map)));
  if (type.pairs)
    forms.push_back(fmt::format(
        R"({{"type":"object","propertyNames":{},"additionalProperties":{},"minProperties":1}})",
        Single(*type.pair_name), Behind(*type.pairs)));
  if (type.nothing) forms.emplace_back(R"({"type":"null"})");
  if (forms.size() == 1) return forms.front();
  return fmt::format(R"({{"anyOf":[{}]}})", fmt::join(forms, ","));
}

std::string ExactlyOne(const std::vector<std::string_view>& keys) {
  std::vector<std::string> cases;
  for (const auto key : keys) cases.push_back(fmt::format(R"({{"required":[{}]}})", Quoted(key)));
  return fmt::format(R"({{"oneOf":[{}]}})", fmt::join(cases, ","));
}

std::string Definition(const Shape& shape) {
  std::vector<std::string> properties;
  std::vector<std::string_view> required;
  std::vector<std::string_view> actions;
  for (const auto& key : shape.keys) {
    if (!key.refused.empty()) continue;
    const std::string behind = Behind(key.type);
    properties.push_back(fmt::format(R"({}:{{"description":{},{})", Quoted(key.name),
                                     Quoted(key.help), behind.substr(1)));
    if (key.required) required.push_back(key.name);
    if (std::ranges::find(ActionNames(), key.name) != ActionNames().end())
      actions.push_back(key.name);
  }
  std::vector<std::string> groups;
  for (const auto& group : shape.one_of) groups.push_back(ExactlyOne(group));
  if (shape.is_stage) groups.push_back(ExactlyOne(actions));
  std::string out = fmt::format(R"({{"type":"object","additionalProperties":false,"required":{})",
                                List(required));
  if (!groups.empty()) out += fmt::format(R"(,"allOf":[{}])", fmt::join(groups, ","));
  return out + fmt::format(R"(,"properties":{{{}}}}})", fmt::join(properties, ","));
}

// Two spaces a level, one member a line; short objects and lists stay on theirs.
class Pretty {
 public:
  explicit Pretty(std::string_view compact) : text_(compact) {}

  std::string Take() && {
    Write(0);
    return out_ + "\n";
  }

 private:
  static constexpr std::size_t kShort = 90;

  // Where the value that begins at `at` ends.
  std::size_t End(std::size_t at) const {
    int depth = 0;
    bool quoted = false;
    for (; at < text_.size(); ++at) {
      const char c = text_[at];
      if (quoted) {
        if (c == '\\') ++at;
        quoted = c != '"';
      } else if (c == '"') {
        quoted = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        if (depth == 0) return at;
        --depth;
      } else if (c == ',' && depth == 0) {
        return at;
      }
    }
    return at;
  }

  // Copies a string or a word.
  void Copy() {
    const std::size_t start = at_;
    if (text_[at_] == '"') {
      for (++at_; text_[at_] != '"'; ++at_)
        if (text_[at_] == '\\') ++at_;
      ++at_;
    } else {
      while (at_ < text_.size() &&
             std::string_view(",:]}").find(text_[at_]) == std::string_view::npos)
        ++at_;
    }
    out_ += text_.substr(start, at_ - start);
  }

  void Write(std::size_t indent) {
    if (text_[at_] != '{' && text_[at_] != '[') return Copy();
    const bool on_one_line = End(at_) - at_ <= kShort;
    const auto new_line = [&](std::size_t depth) {
      if (!on_one_line) out_ += "\n" + std::string(2 * depth, ' ');
    };
    out_ += text_[at_++];
    while (text_[at_] != '}' && text_[at_] != ']') {
      new_line(indent + 1);
      Write(indent + 1);
      if (text_[at_] == ':') {
        out_ += ": ";
        ++at_;
        Write(indent + 1);
      }
      if (text_[at_] != ',') continue;
      out_ += on_one_line ? ", " : ",";
      ++at_;
    }
    new_line(indent);
    out_ += text_[at_++];
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string JsonSchema() {
  std::vector<std::string> definitions;
  for (const Shape* shape : AllShapes())
    definitions.push_back(fmt::format("{}:{}", Quoted(NameInSchema(*shape)), Definition(*shape)));
  std::vector<std::string_view> kinds;
  std::vector<std::string> cases;
  for (const auto& row : Kinds()) {
    kinds.push_back(row.name);
    cases.push_back(fmt::format(
        R"({{"if":{{"properties":{{"kind":{{"const":"{0}"}}}}}},"then":{{"$ref":"#/$defs/{0}"}}}})",
        row.name));
  }
  const std::string compact = fmt::format(
      R"({{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Muster documents",)"
      R"("type":"object","required":["apiVersion","kind"],)"
      R"("properties":{{"kind":{{"enum":{}}}}},"allOf":[{}],"$defs":{{{}}}}})",
      List(kinds), fmt::join(cases, ","), fmt::join(definitions, ","));
  return Pretty(compact).Take();
}

std::string KindTable() {
  std::string out = "| kind | is |\n|---|---|\n";
  for (const auto& row : Kinds()) out += fmt::format("| `{}` | {} |\n", row.name, row.about);
  return out;
}

std::string KindEnum() {
  return fmt::format("    DocumentKind: {{ type: string, enum: [{}] }}\n",
                     fmt::join(KindNames(), ", "));
}

std::string KeyTable(const Shape& shape) {
  std::string out = "| key | takes | what it is for |\n|---|---|---|\n";
  const auto cell = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
      text.insert(at, "\\");
    return text;
  };
  for (const auto& key : shape.keys) {
    if (!key.refused.empty()) continue;
    out += fmt::format("| `{}`{} | {} | {} |\n", key.name, key.required ? " (required)" : "",
                       cell(Describe(key.type)), cell(std::string(key.help)));
  }
  return out;
}

}  // namespace muster::documents
