#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "documents/node.hpp"
#include "documents/problems.hpp"

namespace muster::documents {

// A document's part of a text.
struct Piece {
  std::string text;
  std::uint32_t first_line = 1;  // of the whole text
};

// Cuts a text at its `---` lines and drops the pieces that hold nothing but comments. Line ends
// become plain newlines.
std::vector<Piece> CutDocuments(std::string_view text);

// The value of a piece, with positions in the whole text; nothing when it is no YAML, or more than
// Muster's documents use of it, which `problems` then say.
std::optional<Node> ReadYaml(const Piece& piece, Problems& problems);

// Where byte `offset` of a text node stands in its piece; its beginning when that cannot be said,
// as in a text of several lines.
Position Inside(const Piece& piece, const Node& node, std::size_t offset);

}  // namespace muster::documents
