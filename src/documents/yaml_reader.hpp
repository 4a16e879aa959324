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

// Muster's own documents have neither anchors (&) nor aliases (*); what other programs print may.
enum class Aliases { kRefused, kTaken };

// The value of a piece, with positions in the whole text; nothing when it is no YAML, or more than
// Muster's documents use of it, which `problems` then say.
std::optional<Node> ReadYaml(const Piece& piece, Problems& problems,
                             Aliases aliases = Aliases::kRefused);

// Where the bytes of a text node stand. Each answer goes on from the one before, so that all of
// them in ascending order cost the length of the text. `piece` and `node` outlive it.
class TextPlaces {
 public:
  TextPlaces(const Piece& piece, const Node& node);

  // Of byte `offset`; the text's beginning when that cannot be said, as in a text of several lines.
  Position At(std::size_t offset);

 private:
  const Node& node_;
  std::string_view written_;  // from its first byte, without the quote, to the end of the piece
  std::uint32_t first_column_;
  std::uint32_t column_;
  std::size_t passed_ = 0;
  bool same_ = true;  // up to here it is written as it reads
};

}  // namespace muster::documents
