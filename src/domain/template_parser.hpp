#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

// How a template looks inside; template.hpp has the language.
namespace muster {

struct TemplateNode {
  enum class Kind {
    kLiteral,  // text
    kName,     // path, and as only part what stands in for an unknown one
    kEqual,    // two parts
    kOneOf,    // the first is one of the others
    kNot,      // one part
    kAnd,      // two or more
    kOr,       // likewise
    kUpper,    // one part; the next two likewise
    kLower,
    kJson,
  };

  Kind kind = Kind::kLiteral;
  std::string text;
  std::vector<std::string> path;
  std::size_t at = 0;  // byte in the template
  std::vector<TemplateNode> parts;
};

// The pieces of a text in order: literals as they stand, and expressions.
Result<std::vector<TemplateNode>> ParseTemplate(std::string_view text);

// One expression, with or without ${{ }} around it; the text is not blank.
Result<TemplateNode> ParseCondition(std::string_view condition);

}  // namespace muster
