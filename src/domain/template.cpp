#include "domain/template.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "domain/template_parser.hpp"

namespace muster {
namespace {

using NodeKind = TemplateNode::Kind;

bool IsTrue(std::string_view value) { return !value.empty() && value != "false" && value != "0"; }
std::string FromBool(bool value) { return value ? "true" : "false"; }

// A part that can stand behind a dot as it is.
bool IsPlainPart(std::string_view part) {
  return !part.empty() && std::ranges::all_of(part, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  });
}

// Letters of ASCII only: the rest of a text stays the bytes it is.
std::string WithCase(std::string text, bool upper) {
  const char first = upper ? 'a' : 'A';
  for (char& c : text)
    if (c >= first && c < first + 26) c = static_cast<char>(c ^ 0x20);
  return text;
}

std::string JsonString(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + '"';
}

Result<std::string> Bounded(Result<std::string> value) {
  if (value && value->size() > kMaxTemplateOutput)
    return Fail(ErrorCode::kInvalid, "template: the result is longer than {}",
                FormatSize(kMaxTemplateOutput));
  return value;
}

class Evaluator {
 public:
  explicit Evaluator(const TemplateScope& scope) : scope_(scope) {}

  Result<std::string> Value(const TemplateNode& node) const {
    switch (node.kind) {
      case NodeKind::kLiteral:
        return node.text;
      case NodeKind::kName:
        return Name(node);
      case NodeKind::kEqual:
      case NodeKind::kOneOf:
        return OneOf(node);
      case NodeKind::kNot: {
        auto value = Value(node.parts.front());
        if (!value) return value;
        return FromBool(!IsTrue(*value));
      }
      case NodeKind::kAnd:
      case NodeKind::kOr:
        return Chain(node);
      case NodeKind::kUpper:
      case NodeKind::kLower:
      case NodeKind::kJson:
        return Bounded(Filtered(node));
    }
    return std::string();
  }

 private:
  Result<std::string> Name(const TemplateNode& node) const {
    auto value = scope_.Find(node.path);
    if (value) read_ += value->size();
    if (read_ > kMaxTemplateRead)
      return Fail(ErrorCode::kInvalid, "template: its values have more than {} in all",
                  FormatSize(kMaxTemplateRead));
    if (value || node.parts.empty() || value.error().code != ErrorCode::kNotFound) return value;
    return Value(node.parts.front());
  }

  Result<std::string> OneOf(const TemplateNode& node) const {
    const auto left = Value(node.parts.front());
    if (!left) return left;
    for (std::size_t i = 1; i < node.parts.size(); ++i) {
      const auto right = Value(node.parts[i]);
      if (!right) return right;
      if (*left == *right) return FromBool(true);
    }
    return FromBool(false);
  }

  Result<std::string> Chain(const TemplateNode& node) const {
    const bool decides = node.kind == NodeKind::kOr;
    for (const auto& part : node.parts) {
      const auto value = Value(part);
      if (!value) return value;
      if (IsTrue(*value) == decides) return FromBool(decides);
    }
    return FromBool(!decides);
  }

  Result<std::string> Filtered(const TemplateNode& node) const {
    auto value = Value(node.parts.front());
    if (!value) return value;
    if (node.kind == NodeKind::kJson) return JsonString(*value);
    return WithCase(std::move(*value), node.kind == NodeKind::kUpper);
  }

  const TemplateScope& scope_;
  mutable std::size_t read_ = 0;  // bytes of values
};

void Gather(const TemplateNode& node, std::vector<TemplateName>& names) {
  if (node.kind == NodeKind::kName) names.push_back({node.path, node.at, !node.parts.empty()});
  for (const auto& part : node.parts) Gather(part, names);
}

}  // namespace

bool HasExpressions(std::string_view text) noexcept {
  return text.find("${{") != std::string_view::npos;
}

Result<std::vector<TemplateName>> NamesIn(std::string_view text) {
  const auto pieces = ParseTemplate(text);
  if (!pieces) return Fail(pieces.error());
  std::vector<TemplateName> names;
  for (const auto& piece : *pieces) Gather(piece, names);
  return names;
}

Result<std::vector<TemplateName>> NamesInCondition(std::string_view condition) {
  std::vector<TemplateName> names;
  if (Trim(condition).empty()) return names;
  const auto expression = ParseCondition(condition);
  if (!expression) return Fail(expression.error());
  Gather(*expression, names);
  return names;
}

Result<bool> NamesHost(std::string_view text) {
  const auto names = NamesIn(text);
  if (!names) return Fail(names.error());
  return std::ranges::any_of(*names, [](const TemplateName& name) {
    const auto& path = name.path;
    return path[0] == "host" || (path[0] == "stages" && path.size() > 2 && path[2] == "outputs");
  });
}

std::string WrittenName(std::span<const std::string> path) {
  std::string out;
  for (const auto& part : path) {
    if (IsPlainPart(part)) {
      out += out.empty() ? part : "." + part;
      continue;
    }
    out += "['";
    for (const char c : part) out += c == '\'' ? "''" : std::string(1, c);
    out += "']";
  }
  return out;
}

Result<std::string> Render(std::string_view text, const TemplateScope& scope) {
  const auto pieces = ParseTemplate(text);
  if (!pieces) return Fail(pieces.error());
  const Evaluator evaluator(scope);
  std::string out;
  for (const auto& piece : *pieces) {
    const auto value = evaluator.Value(piece);
    if (!value) return value;
    out += *value;
    if (out.size() > kMaxTemplateOutput) return Bounded(std::move(out));
  }
  return out;
}

Result<bool> Holds(std::string_view condition, const TemplateScope& scope) {
  if (Trim(condition).empty()) return true;
  const auto expression = ParseCondition(condition);
  if (!expression) return Fail(expression.error());
  const auto value = Evaluator(scope).Value(*expression);
  if (!value) return Fail(value.error());
  return IsTrue(*value);
}

}  // namespace muster
