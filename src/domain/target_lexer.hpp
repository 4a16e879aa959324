#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace muster {

struct TargetToken {
  enum class Kind {
    kWord,    // unquoted: names, patterns, ranges, keys, keywords
    kQuoted,  // "…" or '…', with the quotes taken off
    kSign,    // ( ) , = != ~ !~
    kEnd,
  };

  Kind kind = Kind::kEnd;
  std::string text;
  std::size_t at = 0;  // byte offset

  bool Is(Kind wanted, std::string_view wanted_text) const {
    return kind == wanted && text == wanted_text;
  }
};

// Cuts an expression into tokens; the last is kEnd. A comma inside a range's brackets belongs to
// its word. A quote is written twice to stand for itself inside quotes; nothing else is special
// there, so that a regular expression needs no second escaping.
Result<std::vector<TargetToken>> LexTargets(std::string_view text);

// "column 7: expected …"
std::unexpected<Error> FailAtColumn(std::string_view text, std::size_t at, std::string_view what);

}  // namespace muster
