#include "domain/target_lexer.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"

namespace muster {
namespace {

using Kind = TargetToken::Kind;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool IsWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("._-/:@+%*?").find(c) != std::string_view::npos;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<TargetToken>> All() {
    std::vector<TargetToken> tokens;
    while (true) {
      while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
      auto token = Next();
      if (!token) return Fail(token.error());
      tokens.push_back(std::move(*token));
      if (tokens.back().kind == Kind::kEnd) return tokens;
    }
  }

 private:
  Result<TargetToken> Next() {
    if (at_ == text_.size()) return TargetToken{Kind::kEnd, "", at_};
    const char c = text_[at_];
    if (c == '"' || c == '\'') return Quoted(c);
    if (c == '[' || IsWordChar(c)) return Word();
    for (const std::string_view sign : {"!=", "!~", "(", ")", ",", "=", "~"}) {
      if (!text_.substr(at_).starts_with(sign)) continue;
      at_ += sign.size();
      return TargetToken{Kind::kSign, std::string(sign), at_ - sign.size()};
    }
    return FailAtColumn(
        text_, at_,
        "expected a host, a label, a group, 'all', 'not' or '('; a value with other "
        "characters is written in quotes");
  }

  Result<TargetToken> Quoted(char quote) {
    TargetToken token{Kind::kQuoted, "", at_};
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c != quote) {
        token.text += c;
      } else if (at_ < text_.size() && text_[at_] == quote) {
        token.text += text_[at_++];
      } else {
        return token;
      }
    }
    return FailAtColumn(text_, token.at,
                        fmt::format("expected a closing {} for this quote", quote));
  }

  Result<TargetToken> Word() {
    TargetToken token{Kind::kWord, "", at_};
    while (at_ < text_.size() && (text_[at_] == '[' || IsWordChar(text_[at_]))) {
      if (text_[at_] != '[') {
        token.text += text_[at_++];
        continue;
      }
      const auto close = text_.find(']', at_);
      if (close == std::string_view::npos)
        return FailAtColumn(text_, at_, "expected a closing ] for this range, as in web[01-20]");
      token.text += text_.substr(at_, close + 1 - at_);
      at_ = close + 1;
    }
    return token;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::unexpected<Error> FailAtColumn(std::string_view text, std::size_t at, std::string_view what) {
  // Characters, not bytes: that is what an editor shows.
  const auto column = 1 + std::ranges::count_if(text.substr(0, at), [](char c) {
                        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
                      });
  return Fail(ErrorCode::kInvalid, "targets, column {}: {}", column, what);
}

Result<std::vector<TargetToken>> LexTargets(std::string_view text) {
  if (!IsUtf8(text)) return Fail(ErrorCode::kInvalid, "targets: the expression is not UTF-8 text");
  return Lexer(text).All();
}

}  // namespace muster
