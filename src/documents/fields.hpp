#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.hpp"
#include "documents/budget.hpp"
#include "documents/node.hpp"
#include "documents/problems.hpp"
#include "documents/yaml_reader.hpp"
#include "domain/batches.hpp"

// Values out of maps that were held against the table. Whatever is malformed was told then: these
// give the fallback for it and say nothing.
namespace muster::documents {

// What a builder works with. All of it outlives the building.
struct Context {
  const std::string& file;
  const Piece& piece;
  const ScriptReader& scripts;
  Problems& problems;
  ReadBudget& budget;
};

std::string TextOf(const Node& map, std::string_view key, std::string_view fallback = "");
Duration TimeOf(const Node& map, std::string_view key, Duration fallback);
std::uint32_t NumberOf(const Node& map, std::string_view key, std::uint32_t fallback);
std::uint64_t SizeOf(const Node& map, std::string_view key, std::uint64_t fallback);
std::uint64_t RateOf(const Node& map, std::string_view key);
bool FlagOf(const Node& map, std::string_view key, bool fallback);

// One or several: the items of a list, or the value alone; none when there is nothing.
std::vector<const Node*> SeveralOf(const Node* value);
std::vector<std::string> TextsOf(const Node* value);

// A map with names of one's own, as texts, in the order of the document.
std::vector<std::pair<std::string, std::string>> PairsOf(const Node* map);

}  // namespace muster::documents
