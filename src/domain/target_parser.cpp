#include "domain/target_parser.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <re2/re2.h>

#include "domain/host_ranges.hpp"
#include "domain/ids.hpp"
#include "domain/target_lexer.hpp"

namespace muster {
namespace {

using Node = TargetExpression::Node;
using NodePtr = std::unique_ptr<Node>;
using Kind = TargetToken::Kind;

constexpr std::string_view kTermWanted =
    "a host, a label condition, @group, run:ID, 'all', 'not' or '('";

NodePtr Make(Node::Kind kind, std::string text = "") {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  node->text = std::move(text);
  return node;
}

bool IsKeyword(const TargetToken& token) {
  constexpr std::array<std::string_view, 5> kWords{"and", "or", "not", "in", "all"};
  return token.kind == Kind::kWord && std::ranges::find(kWords, token.text) != kWords.end();
}

std::string Found(const TargetToken& token) {
  if (token.kind == Kind::kEnd) return "found the end";
  std::string lower = token.text;
  for (auto& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const bool shouted = lower != token.text && IsKeyword({Kind::kWord, lower, 0});
  return fmt::format("found '{}'{}", token.text.substr(0, 60),
                     shouted ? fmt::format(" (write '{}' in small letters)", lower) : "");
}

// "; did you mean app=web?" for "app:web", as other tools write labels; else "".
std::string LabelMeantBy(std::string_view word) {
  const auto colon = word.find(':');
  if (colon == std::string_view::npos || word.find(':', colon + 1) != std::string_view::npos)
    return "";
  const auto key = word.substr(0, colon);
  const auto value = word.substr(colon + 1);
  if (value.empty() || !CheckLabel(key, value)) return "";
  return fmt::format("; did you mean {}={}?", key, value);
}

// Recursive descent. Depth is bounded, so no input can overflow the stack.
class TargetParser {
 public:
  TargetParser(std::string_view text, std::vector<TargetToken> tokens)
      : text_(text), tokens_(std::move(tokens)) {}

  Result<NodePtr> Whole() {
    if (Peek().kind == Kind::kEnd)
      return FailAtColumn(text_, 0,
                          "expected which hosts are meant; write 'all' to mean every host");
    if (auto fits = CountRegexes(); !fits) return Fail(fits.error());
    auto node = Or(0);
    if (node && Peek().kind != Kind::kEnd) return Expected("'and', 'or', ',' or the end");
    return node;
  }

 private:
  const TargetToken& Peek() const { return tokens_[next_]; }
  TargetToken Take() { return tokens_[next_ + 1 < tokens_.size() ? next_++ : next_]; }
  bool TakeIf(Kind kind, std::string_view text) {
    if (!Peek().Is(kind, text)) return false;
    ++next_;
    return true;
  }
  std::unexpected<Error> Expected(std::string_view what) const {
    return FailAtColumn(text_, Peek().at, fmt::format("expected {}, {}", what, Found(Peek())));
  }

  Result<NodePtr> Or(int depth) {
    auto first = And(depth);
    if (!first) return first;
    auto node = Make(Node::Kind::kOr);
    Append(*node, std::move(*first));
    while (TakeIf(Kind::kWord, "or") || TakeIf(Kind::kSign, ",")) {
      auto more = And(depth);
      if (!more) return more;
      Append(*node, std::move(*more));
    }
    return Simplified(std::move(node));
  }

  // Ten thousand names joined by commas are one leaf, so that resolving stays linear in hosts.
  void Append(Node& either, NodePtr term) {
    const bool names = term->kind == Node::Kind::kNames;
    const auto known = std::ranges::find(either.children, Node::Kind::kNames, &Node::kind);
    if (names && known != either.children.end())
      (*known)->values.merge(term->values);
    else
      either.children.push_back(std::move(term));
  }

  static NodePtr Simplified(NodePtr node) {
    if (node->children.size() > 1) return node;
    return std::move(node->children.front());
  }

  Result<NodePtr> And(int depth) {
    auto node = Make(Node::Kind::kAnd);
    do {
      auto term = Not(depth);
      if (!term) return term;
      node->children.push_back(std::move(*term));
    } while (TakeIf(Kind::kWord, "and"));
    return Simplified(std::move(node));
  }

  Result<NodePtr> Not(int depth) {
    if (!Peek().Is(Kind::kWord, "not")) return Primary(depth);
    if (depth >= kMaxTargetDepth) return TooDeep();
    Take();
    auto inner = Not(depth + 1);
    if (!inner) return inner;
    auto node = Make(Node::Kind::kNot);
    node->children.push_back(std::move(*inner));
    return node;
  }

  std::unexpected<Error> TooDeep() const {
    return FailAtColumn(text_, Peek().at,
                        fmt::format("expected at most {} nested levels", kMaxTargetDepth));
  }

  Result<NodePtr> Primary(int depth) {
    if (Peek().Is(Kind::kSign, "(")) {
      if (depth >= kMaxTargetDepth) return TooDeep();
      Take();
      auto inner = Or(depth + 1);
      if (!inner) return inner;
      if (!TakeIf(Kind::kSign, ")")) return Expected("'and', 'or', ',' or ')'");
      return inner;
    }
    if (Peek().kind == Kind::kQuoted) {
      auto node = Make(Node::Kind::kNames);
      node->values.insert(Take().text);
      return CountName(std::move(node));
    }
    if (Peek().kind != Kind::kWord) return Expected(kTermWanted);
    if (TakeIf(Kind::kWord, "all")) return CountTerm(Make(Node::Kind::kAll));
    if (IsKeyword(Peek())) return Expected(kTermWanted);
    const TargetToken word = Take();
    if (Peek().kind == Kind::kSign || Peek().Is(Kind::kWord, "in")) {
      const std::string sign = Peek().text;
      if (sign == "=" || sign == "!=" || sign == "~" || sign == "!~" || sign == "in")
        return CountTerm(Condition(word));
    }
    return Word(word);
  }

  Result<NodePtr> CountTerm(Result<NodePtr> node) {
    if (node && ++terms_ > kMaxTargetTerms)
      return FailAtColumn(text_, Peek().at,
                          fmt::format("expected at most {} terms", kMaxTargetTerms));
    return node;
  }

  Result<NodePtr> CountName(NodePtr node) {
    names_ += node->values.size();
    if (names_ > kMaxTargetNames)
      return FailAtColumn(text_, Peek().at,
                          fmt::format("expected at most {} names", kMaxTargetNames));
    return node;
  }

  Result<NodePtr> Condition(const TargetToken& key) {
    if (key.text.find_first_of("*?[]:@+%") != std::string::npos ||
        std::isalpha(static_cast<unsigned char>(key.text.front())) == 0)
      return FailAtColumn(text_, key.at, fmt::format("expected a label key, found '{}'", key.text));
    const std::string sign = Take().text;
    if (sign == "in") return OneOf(key.text);
    const TargetToken value = Peek();
    if (auto ok = CheckValue("a value"); !ok) return Fail(ok.error());
    Take();
    const bool negative = sign.starts_with('!');
    auto node = Make(Node::Kind::kLabel, key.text);
    if (sign.ends_with('~')) {
      auto regex = Regex(value);
      if (!regex) return Fail(regex.error());
      node->kind = Node::Kind::kRegex;
      node->regex = std::move(*regex);
    } else {
      node->values.insert(value.text);
    }
    if (!negative) return node;
    auto opposite = Make(Node::Kind::kNot);
    opposite->children.push_back(std::move(node));
    return opposite;
  }

  Result<NodePtr> OneOf(const std::string& key) {
    if (!TakeIf(Kind::kSign, "(")) return Expected("'(' and a list of values");
    auto node = Make(Node::Kind::kLabel, key);
    do {
      if (auto ok = CheckValue("a value"); !ok) return Fail(ok.error());
      node->values.insert(Take().text);
    } while (TakeIf(Kind::kSign, ","));
    if (!TakeIf(Kind::kSign, ")")) return Expected("',' or ')'");
    return node;
  }

  Result<> CheckValue(std::string_view what) const {
    if (Peek().kind == Kind::kQuoted) return {};
    if (Peek().kind != Kind::kWord) return Expected(what);
    if (Peek().text.find_first_of("*?[]") != std::string::npos)
      return FailAtColumn(text_, Peek().at,
                          fmt::format("expected a plain value, found '{}'; write ~ for a regular "
                                      "expression, or quote it to mean exactly that",
                                      Peek().text));
    return {};
  }

  // Before any is built: to build one takes as much time as memory.
  Result<> CountRegexes() {
    for (const auto& token : tokens_) {
      if (!token.Is(Kind::kSign, "~") && !token.Is(Kind::kSign, "!~")) continue;
      if (++regexes_ > kMaxTargetRegexes)
        return FailAtColumn(
            text_, token.at,
            fmt::format("expected at most {} regular expressions; name the hosts, or write values "
                        "as zone in (a, b)",
                        kMaxTargetRegexes));
    }
    return {};
  }

  Result<std::shared_ptr<const re2::RE2>> Regex(const TargetToken& value) const {
    if (value.text.size() > kMaxTargetRegex)
      return FailAtColumn(
          text_, value.at,
          fmt::format("expected a regular expression of at most {} characters", kMaxTargetRegex));
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(static_cast<std::int64_t>(
        std::min(kMaxTargetRegexMemory, kMaxTargetRegexMemoryInAll / regexes_)));
    auto regex = std::make_shared<const re2::RE2>(value.text, options);
    if (regex->error_code() == re2::RE2::ErrorPatternTooLarge)
      return FailAtColumn(
          text_, value.at,
          fmt::format("expected a smaller regular expression: it takes more than its share of {} "
                      "MB, which all {} of this expression have together",
                      kMaxTargetRegexMemoryInAll >> 20, regexes_));
    if (!regex->ok())
      return FailAtColumn(text_, value.at,
                          fmt::format("expected a regular expression (RE2): {}", regex->error()));
    return regex;
  }

  Result<NodePtr> Word(const TargetToken& word) {
    const std::string& text = word.text;
    if (text.starts_with('@')) {
      if (text.size() == 1)
        return FailAtColumn(text_, word.at, "expected a group's name after '@'");
      return CountTerm(Make(Node::Kind::kGroup, text.substr(1)));
    }
    if (text.starts_with("run:")) return CountTerm(RunTerm(word));
    if (text.find_first_of(":@+%/") != std::string::npos)
      return FailAtColumn(
          text_, word.at,
          fmt::format("expected {}, found '{}'{}", kTermWanted, text, LabelMeantBy(text)));
    const bool pattern = text.find_first_of("*?") != std::string::npos;
    const bool range = text.find_first_of("[]") != std::string::npos;
    if (pattern && range)
      return FailAtColumn(
          text_, word.at,
          fmt::format("expected either a range or a pattern, found both in '{}'", text));
    if (pattern && text.find_first_not_of('*') == std::string::npos)
      return FailAtColumn(text_, word.at, "a lone * is not taken; write all to mean every host");
    if (pattern) return CountTerm(Make(Node::Kind::kPattern, text));
    auto node = Make(Node::Kind::kNames);
    if (!range) {
      node->values.insert(text);
      return CountName(std::move(node));
    }
    auto names = ExpandHostRanges(text, kMaxTargetNames);
    if (!names) return FailAtColumn(text_, word.at, names.error().message);
    node->values.insert(names->begin(), names->end());
    return CountName(std::move(node));
  }

  // The id may itself hold a dot ("r1.1043"), a state never begins with a digit.
  Result<NodePtr> RunTerm(const TargetToken& word) {
    if (++runs_ > kMaxTargetRuns)
      return FailAtColumn(
          text_, word.at,
          fmt::format("expected at most {} runs; name the hosts instead", kMaxTargetRuns));
    std::string id = word.text.substr(4);
    std::string state;
    const auto dot = id.rfind('.');
    if (dot != std::string::npos && dot + 1 < id.size() &&
        std::isdigit(static_cast<unsigned char>(id[dot + 1])) == 0) {
      state = id.substr(dot + 1);
      id.resize(dot);
    }
    if (auto known = ParseRunId(id); !known)
      return FailAtColumn(text_, word.at,
                          fmt::format("expected a run and perhaps a state, as in run:r12.failed, "
                                      "found '{}'",
                                      word.text));
    auto node = Make(Node::Kind::kRun, std::move(id));
    node->state = std::move(state);
    return node;
  }

  std::string_view text_;
  std::vector<TargetToken> tokens_;
  std::size_t next_ = 0;
  std::size_t terms_ = 0;
  std::size_t names_ = 0;
  std::size_t regexes_ = 0;
  std::size_t runs_ = 0;
};

}  // namespace

Result<NodePtr> ParseTargets(std::string_view text) {
  if (text.size() > kMaxTargetText)
    return Fail(ErrorCode::kInvalid, "targets: the expression is longer than {} bytes",
                kMaxTargetText);
  auto tokens = LexTargets(text);
  if (!tokens) return Fail(tokens.error());
  return TargetParser(text, std::move(*tokens)).Whole();
}

}  // namespace muster
