#include <algorithm>
#include <cctype>

#include "imports/rundeck_parts.hpp"

namespace muster::imports {
namespace {

// ${option.x}, ${node.name} and, in scripts, @option.x@.
struct Reference {
  std::size_t size = 0;
  std::string space;  // "option"
  std::string name;   // "x"
};

bool IsNamePart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' ||
         c == ':';
}

std::optional<Reference> ReferenceAt(std::string_view text) {
  const bool brace = text.starts_with("${");
  if (!brace && !text.starts_with('@')) return std::nullopt;
  const std::size_t start = brace ? 2 : 1;
  std::size_t end = start;
  while (end < text.size() && IsNamePart(text[end])) ++end;
  if (end == text.size() || text[end] != (brace ? '}' : '@')) return std::nullopt;
  const auto inside = text.substr(start, end - start);
  const auto dot = inside.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  Reference found{end + 1, std::string(inside.substr(0, dot)), std::string(inside.substr(dot + 1))};
  constexpr std::string_view kSpaces[] = {"option", "unquotedoption", "node",
                                          "job",    "data",           "globals",
                                          "export", "execution",      "secureOption"};
  if (std::ranges::find(kSpaces, found.space) == std::end(kSpaces)) return std::nullopt;
  if (found.name.ends_with(".label")) found.name.resize(found.name.size() - 6);
  return found;
}

const RundeckOption* FindOption(const RundeckOptions& options, std::string_view name) {
  const auto found = std::ranges::find(options, name, &RundeckOption::name);
  return found == options.end() ? nullptr : &*found;
}

// Rundeck's own variables that Muster knows under other names, as templates.
std::optional<std::string> KnownTemplate(const Reference& reference) {
  const auto is = [&](std::string_view space, std::string_view name) {
    return reference.space == space && reference.name == name;
  };
  if (is("job", "execid") || is("execution", "id")) return "run.id";
  if (is("job", "name")) return "run.job";
  if (is("job", "username") || is("job", "user.name")) return "run.by";
  if (is("node", "name") || is("node", "hostname")) return "host.name";
  return std::nullopt;
}

std::string Upper(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += std::isalnum(static_cast<unsigned char>(c)) != 0
               ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
               : '_';
  return out;
}

// The variable a reference can be read from on a host; nothing when there is none.
std::optional<std::string> VariableOf(const Reference& reference, const StepContext& context,
                                      Variables& env) {
  if (reference.space == "option" || reference.space == "unquotedoption") {
    const auto* option = FindOption(context.options, reference.name);
    if (option == nullptr) return std::nullopt;
    return documents::ParamVariable(option->param);
  }
  const auto known = KnownTemplate(reference);
  if (!known) return std::nullopt;
  if (*known == "host.name") return "MUSTER_HOST";
  const auto variable = fmt::format("RD_{}_{}", Upper(reference.space), Upper(reference.name));
  env[variable] = fmt::format("${{{{ {} }}}}", *known);
  return variable;
}

// Follows the quotes of a shell, as far as one can without being one.
class QuoteState {
 public:
  void Take(char c) {
    if (escaped_) {
      escaped_ = false;
    } else if (comment_) {
      comment_ = c != '\n';
    } else if (c == '\\' && quote_ != '\'') {
      escaped_ = true;
    } else if (quote_ != 0) {
      if (c == quote_) quote_ = 0;
    } else if (c == '\'' || c == '"') {
      quote_ = c;
    } else if (c == '#' && (last_ == '\n' || last_ == ' ')) {
      comment_ = true;
    }
    last_ = c;
  }
  char quote() const { return quote_; }

 private:
  char quote_ = 0;
  char last_ = '\n';
  bool escaped_ = false;
  bool comment_ = false;
};

std::string Expansion(const std::string& variable, char quote, bool unquoted) {
  if (quote == '\'') return fmt::format("'\"${{{}}}\"'", variable);
  if (quote == '"' || unquoted) return fmt::format("${{{}}}", variable);
  return fmt::format("\"${{{}}}\"", variable);
}

void LoseReference(const Reference& reference, Position at, const StepContext& context) {
  if (reference.space == "option" || reference.space == "unquotedoption")
    context.notes.Lost(at, "'{}' is no option of this job: write what was meant", reference.name);
  else
    context.notes.Lost(at, "${{{}.{}}} has no counterpart: write its value, or make it a parameter",
                       reference.space, reference.name);
}

// RD_OPTION_X and the like; all languages read them by their names.
std::string RenameVariables(std::string_view text, Position at, const StepContext& context,
                            Variables& env) {
  std::map<std::string, std::string> variables = {{"RD_NODE_NAME", "MUSTER_HOST"},
                                                  {"RD_NODE_HOSTNAME", "MUSTER_HOST"}};
  for (const auto& option : context.options)
    variables["RD_OPTION_" + Upper(option.name)] = documents::ParamVariable(option.param);
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const bool inside =
        i > 0 && (std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0 || text[i - 1] == '_');
    if (inside || !text.substr(i).starts_with("RD_")) {
      out += text[i++];
      continue;
    }
    std::size_t end = i;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
      ++end;
    const auto word = std::string(text.substr(i, end - i));
    i = end;
    const auto known = variables.find(word);
    std::string becomes = known == variables.end() ? "" : known->second;
    for (const auto& [name, meaning] : {std::pair{"RD_JOB_EXECID", "run.id"},
                                        {"RD_JOB_NAME", "run.job"},
                                        {"RD_JOB_USERNAME", "run.by"}})
      if (word == name) {
        env[word] = fmt::format("${{{{ {} }}}}", meaning);
        becomes = word;
      }
    if (becomes.empty())
      context.notes.Lost(at, "variable {} is not there: give it in 'env', or make it a parameter",
                         word);
    out += becomes.empty() ? word : becomes;
  }
  return out;
}

}  // namespace

std::string ShellText(std::string_view text, Position at, const StepContext& context,
                      Variables& env) {
  std::string out;
  QuoteState state;
  for (std::size_t i = 0; i < text.size();) {
    const auto reference = ReferenceAt(text.substr(i));
    const auto variable = reference ? VariableOf(*reference, context, env) : std::nullopt;
    if (variable) {
      const bool unquoted = reference->space == "unquotedoption";
      out += Expansion(*variable, state.quote(), unquoted);
      context.notes.Changed(
          at, "{} is read from ${} when the script runs, and is no longer pasted into it",
          text.substr(i, reference->size), *variable);
      i += reference->size;
      continue;
    }
    if (reference) LoseReference(*reference, at, context);
    state.Take(text[i]);
    out += text[i++];
  }
  return RenameVariables(out, at, context, env);
}

std::string OtherText(std::string_view text, Position at, const StepContext& context,
                      Variables& env) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto reference = ReferenceAt(text.substr(i));
    if (!reference) continue;
    const auto variable = VariableOf(*reference, context, env);
    if (variable)
      context.notes.Lost(at, "{} is not replaced in this language: read {} from the environment",
                         text.substr(i, reference->size), *variable);
    else
      LoseReference(*reference, at, context);
  }
  return RenameVariables(text, at, context, env);
}

std::optional<std::string> TemplateText(std::string_view text, Position at,
                                        const StepContext& context) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto reference = ReferenceAt(text.substr(i));
    if (!reference) {
      // A text that looks like a template must not become one.
      if (text.substr(i).starts_with("${{")) {
        out += "${{ '${{' }}";
        i += 3;
      } else {
        out += text[i++];
      }
      continue;
    }
    const auto whole = i == 0 && reference->size == text.size();
    i += reference->size;
    const auto* option = FindOption(context.options, reference->name);
    if (reference->space != "option" && reference->space != "unquotedoption") option = nullptr;
    if (option != nullptr && option->secret && !whole) return std::nullopt;
    if (option != nullptr) {
      out += option->always || option->secret
                 ? fmt::format("${{{{ params.{} }}}}", option->param)
                 : fmt::format("${{{{ params.{} | default: '' }}}}", option->param);
    } else if (const auto known = KnownTemplate(*reference)) {
      out += fmt::format("${{{{ {} }}}}", *known);
    } else {
      LoseReference(*reference, at, context);
    }
  }
  return out;
}

std::vector<std::string> CutArguments(std::string_view text) {
  std::vector<std::string> words;
  bool open = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool space = c == ' ' || c == '\t' || c == '\n';
    if (quote == 0 && space) {
      open = false;
      continue;
    }
    if (!open) words.emplace_back();
    open = true;
    if (quote != 0 && c == quote)
      quote = 0;
    else if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else if (c == '\\' && quote != '\'' && i + 1 < text.size())
      words.back() += text[++i];
    else
      words.back() += c;
  }
  return words;
}

}  // namespace muster::imports
