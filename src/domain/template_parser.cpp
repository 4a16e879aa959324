#include "domain/template_parser.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/ascii.hpp"
#include "domain/template.hpp"

namespace muster {
namespace {

using NodeKind = TemplateNode::Kind;

constexpr std::string_view kOpen = "${{";
constexpr std::string_view kClose = "}}";

bool IsNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsNameChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

TemplateNode Literal(std::string text, std::size_t at) {
  return {.kind = NodeKind::kLiteral, .text = std::move(text), .path = {}, .at = at, .parts = {}};
}

TemplateNode Around(NodeKind kind, TemplateNode inner) {
  TemplateNode node{.kind = kind, .text = {}, .path = {}, .at = inner.at, .parts = {}};
  node.parts.push_back(std::move(inner));
  return node;
}

class TemplateParser {
 public:
  // `terms`: how many the text has so far; it goes on counting.
  TemplateParser(std::string_view text, std::size_t at, std::size_t& terms)
      : text_(text), at_(at), terms_(terms) {}

  Result<TemplateNode> Or() { return Chain("or", NodeKind::kOr, &TemplateParser::And); }

  bool TakeClose() {
    SkipSpace();
    return Take(kClose);
  }
  bool AtEnd() {
    SkipSpace();
    return at_ == text_.size();
  }
  std::size_t At() const { return at_; }

  std::unexpected<Error> Expected(std::string_view what) const {
    const std::string found =
        at_ >= text_.size() ? "the end" : fmt::format("'{}'", Printable(text_.substr(at_)));
    return Fail(ErrorCode::kInvalid, "template, byte {}: expected {}, found {}", at_, what, found);
  }

 private:
  using Rule = Result<TemplateNode> (TemplateParser::*)();

  // The word or character that stands there, for a message.
  static std::string Printable(std::string_view rest) {
    std::size_t end = 0;
    while (end < rest.size() && end < 20 && IsNameChar(rest[end])) ++end;
    if (end == 0) end = 1;
    while (end < rest.size() && (static_cast<unsigned char>(rest[end]) & 0xC0) == 0x80) ++end;
    return std::string(rest.substr(0, end));
  }

  void SkipSpace() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool Take(std::string_view sign) {
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }
  bool TakeSign(std::string_view sign) {
    SkipSpace();
    return Take(sign);
  }
  bool TakeWord(std::string_view word) {
    SkipSpace();
    const auto rest = text_.substr(at_);
    if (!rest.starts_with(word)) return false;
    if (rest.size() > word.size() && (IsNameChar(rest[word.size()]) || rest[word.size()] == '.'))
      return false;
    at_ += word.size();
    return true;
  }

  Result<TemplateNode> Chain(std::string_view word, NodeKind kind, Rule rule) {
    auto first = (this->*rule)();
    if (!first || !TakeWord(word)) return first;
    auto node = Around(kind, std::move(*first));
    do {
      auto next = (this->*rule)();
      if (!next) return next;
      node.parts.push_back(std::move(*next));
    } while (TakeWord(word));
    return node;
  }

  Result<TemplateNode> And() { return Chain("and", NodeKind::kAnd, &TemplateParser::Not); }

  Result<TemplateNode> Not() {
    if (!TakeWord("not")) return Comparison();
    if (++depth_ > kMaxTemplateDepth) return TooDeep();
    auto inner = Not();
    --depth_;
    if (!inner) return inner;
    return Around(NodeKind::kNot, std::move(*inner));
  }

  Result<TemplateNode> Comparison() {
    auto left = Filtered();
    if (!left) return left;
    const bool equal = TakeSign("==");
    if (equal || TakeSign("!=")) {
      auto right = Filtered();
      if (!right) return right;
      auto node = Around(NodeKind::kEqual, std::move(*left));
      node.parts.push_back(std::move(*right));
      return equal ? node : Around(NodeKind::kNot, std::move(node));
    }
    const bool negative = TakeWord("not");
    if (TakeWord("in")) {
      auto node = OneOf(std::move(*left));
      if (!node || !negative) return node;
      return Around(NodeKind::kNot, std::move(*node));
    }
    if (negative) return Expected("'in' after 'not'");
    return left;
  }

  Result<TemplateNode> OneOf(TemplateNode left) {
    auto node = Around(NodeKind::kOneOf, std::move(left));
    if (!TakeSign("(")) return Expected("'(' and a list, as in ('a', 'b'), after 'in'");
    do {
      auto value = Filtered();
      if (!value) return value;
      node.parts.push_back(std::move(*value));
    } while (TakeSign(","));
    if (!TakeSign(")")) return Expected("',' or ')' in the list");
    return node;
  }

  Result<TemplateNode> Filtered() {
    auto value = Operand();
    for (std::size_t filters = 0; value && TakeSign("|"); ++filters) {
      if (filters == kMaxTemplateDepth) return TooDeep();
      value = Filter(std::move(*value));
    }
    return value;
  }

  Result<TemplateNode> Filter(TemplateNode value) {
    SkipSpace();
    const std::size_t at = at_;
    if (TakeWord("upper")) return Around(NodeKind::kUpper, std::move(value));
    if (TakeWord("lower")) return Around(NodeKind::kLower, std::move(value));
    if (TakeWord("json")) return Around(NodeKind::kJson, std::move(value));
    if (!TakeWord("default")) return Expected("default:, upper, lower or json after '|'");
    if (value.kind != NodeKind::kName || !value.parts.empty()) {
      at_ = at;
      return Expected("a filter other than default: it comes first behind a name, once");
    }
    if (!TakeSign(":")) return Expected("':' and a value after 'default'");
    SkipSpace();
    auto fallback = Primary();
    if (!fallback) return fallback;
    value.parts.push_back(std::move(*fallback));
    return value;
  }

  Result<TemplateNode> Operand() {
    if (!TakeSign("(")) return Primary();
    if (++depth_ > kMaxTemplateDepth) return TooDeep();
    auto inner = Or();
    --depth_;
    if (!inner) return inner;
    if (!TakeSign(")")) return Expected("')'");
    return inner;
  }

  Result<TemplateNode> Primary() {
    SkipSpace();
    if (++terms_ > kMaxTemplateTerms)
      return Fail(ErrorCode::kInvalid, "template, byte {}: more than {} names and values", at_,
                  kMaxTemplateTerms);
    if (at_ == text_.size()) return Expected("a name, a text in quotes or '('");
    const char c = text_[at_];
    if (c == '\'' || c == '"') return Quoted();
    if (IsDigit(c) || (c == '-' && at_ + 1 < text_.size() && IsDigit(text_[at_ + 1])))
      return Number();
    if (!IsNameStart(c)) return Expected("a name, a text in quotes or '('");
    return Name();
  }

  Result<TemplateNode> Quoted() {
    const std::size_t start = at_;
    const char quote = text_[at_++];
    std::string value;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c != quote) {
        value += c;
      } else if (at_ < text_.size() && text_[at_] == quote) {
        value += text_[at_++];
      } else {
        return Literal(std::move(value), start);
      }
    }
    return Expected(fmt::format("a closing {} for the quote at byte {}", quote, start));
  }

  Result<TemplateNode> Number() {
    const std::size_t start = at_;
    if (text_[at_] == '-') ++at_;
    bool dot = false;
    while (at_ < text_.size() && (IsDigit(text_[at_]) || (text_[at_] == '.' && !dot)))
      dot |= text_[at_++] == '.';
    if (text_[at_ - 1] == '.' || (at_ < text_.size() && IsNameChar(text_[at_])))
      return Expected("the end of a number; other texts stand in quotes");
    return Literal(std::string(text_.substr(start, at_ - start)), start);
  }

  Result<TemplateNode> Name() {
    TemplateNode node{.kind = NodeKind::kName, .text = {}, .path = {}, .at = at_, .parts = {}};
    node.path.push_back(Part());
    constexpr std::string_view kWords[] = {"and", "or", "not", "in"};
    if (std::ranges::find(kWords, node.path.front()) != std::end(kWords)) {
      at_ = node.at;
      return Expected("a name, a text in quotes or '('");
    }
    while (true) {
      if (Take(".")) {
        if (at_ == text_.size() || !IsNameChar(text_[at_]))
          return Expected("the next part of the name after '.'");
        node.path.push_back(Part());
      } else if (Take("[")) {
        auto part = BracketPart();
        if (!part) return Fail(part.error());
        node.path.push_back(std::move(*part));
      } else {
        break;
      }
    }
    if (node.path.size() == 1 && (node.path.front() == "true" || node.path.front() == "false"))
      return Literal(node.path.front(), node.at);
    return node;
  }

  std::string Part() {
    const std::size_t start = at_;
    while (at_ < text_.size() && IsNameChar(text_[at_])) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  Result<std::string> BracketPart() {
    SkipSpace();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"'))
      return Expected("a text in quotes after '['");
    auto part = Quoted();
    if (!part) return Fail(part.error());
    if (!TakeSign("]")) return Expected("']'");
    return std::move(part->text);
  }

  std::unexpected<Error> TooDeep() const {
    return Fail(ErrorCode::kInvalid,
                "template, byte {}: more than {} levels of parentheses, 'not' and filters", at_,
                kMaxTemplateDepth);
  }

  std::string_view text_;
  std::size_t at_;
  std::size_t& terms_;
  std::size_t depth_ = 0;
};

}  // namespace

Result<std::vector<TemplateNode>> ParseTemplate(std::string_view text) {
  std::vector<TemplateNode> pieces;
  std::size_t at = 0;
  std::size_t terms = 0;
  while (at < text.size()) {
    const std::size_t open = std::min(text.find(kOpen, at), text.size());
    if (open > at) pieces.push_back(Literal(std::string(text.substr(at, open - at)), at));
    if (open == text.size()) break;
    TemplateParser parser(text, open + kOpen.size(), terms);
    auto expression = parser.Or();
    if (!expression) return Fail(expression.error());
    if (!parser.TakeClose()) return parser.Expected("'}}' or an operator");
    pieces.push_back(std::move(*expression));
    at = parser.At();
  }
  return pieces;
}

Result<TemplateNode> ParseCondition(std::string_view condition) {
  const std::size_t start = condition.find_first_not_of(" \t\r\n");
  const bool enclosed =
      start != std::string_view::npos && condition.substr(start).starts_with(kOpen);
  std::size_t terms = 0;
  TemplateParser parser(condition, enclosed ? start + kOpen.size() : 0, terms);
  auto expression = parser.Or();
  if (!expression) return expression;
  if (enclosed && !parser.TakeClose()) return parser.Expected("'}}' or an operator");
  if (!parser.AtEnd())
    return parser.Expected(enclosed ? "the end: a condition is one expression" : "an operator");
  return expression;
}

}  // namespace muster
