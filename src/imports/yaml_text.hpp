#pragma once

#include <string>
#include <string_view>

namespace muster::imports {

// A text as a YAML value that reads back as exactly that text: plain where nothing can be mistaken,
// quoted, or (several lines) as a block whose lines are indented by `indent` spaces. It begins
// where the value does, and has no line end.
std::string YamlText(std::string_view text, std::size_t indent);

// Always on one line; for lists and maps in brackets.
std::string YamlQuoted(std::string_view text);

}  // namespace muster::imports
