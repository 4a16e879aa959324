#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "documents/documents.hpp"

namespace muster::documents {

// A YAML value and where it stands. Only what Muster's documents use: no aliases, no tags; a plain
// text is just its characters, so 0644 and 1.10 stay what was typed.
struct Node {
  enum class Kind { kNothing, kText, kList, kMap };

  Kind kind = Kind::kNothing;
  Position at;
  std::size_t offset = 0;   // of kText: where it begins in the text of its piece, in bytes
  std::string text;         // of kText
  bool quoted = false;      // of kText, also of a block (| or >)
  std::vector<Node> keys;   // of kMap, each kText; a key may be there twice
  std::vector<Node> items;  // of kList; of kMap the values, as many as keys

  bool IsText() const { return kind == Kind::kText; }
  bool IsList() const { return kind == Kind::kList; }
  bool IsMap() const { return kind == Kind::kMap; }
  // The value of a key; nullptr when this is no map or has no such key.
  const Node* Find(std::string_view key) const;
  const Node* FindKey(std::string_view key) const;  // the key itself
};

// For each key of a map the first one that is the same, which is itself unless it is given twice.
std::vector<const Node*> FirstOfEach(const Node& map);

// For messages: "a list", "a map", "nothing", 'abc', the last with so many bytes at most.
std::string Found(const Node& node, std::size_t most = 40);

}  // namespace muster::documents
