#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "imports/findings.hpp"
#include "imports/inventory.hpp"

namespace muster::imports {

// Gathers hosts while a file is read, and holds them to the bounds.
class InventoryBuilder {
 public:
  explicit InventoryBuilder(std::string file) : findings(std::move(file)) {}

  // One host or, with web[01-20], several. A name that was there before is a problem.
  void AddHosts(std::string_view names, Position at, const Labels& labels);
  // One that is checked and counted, or a problem.
  void AddHost(const std::string& name, Position at, const Labels& labels);
  void AddGroup(Inventory::Group group) { groups_.push_back(std::move(group)); }
  std::size_t Room() const { return kMostInventoryHosts - hosts_.size(); }

  Inventory Take() &&;

  Findings findings;

 private:
  std::vector<Inventory::Host> hosts_;
  std::unordered_map<std::string, Position> known_;
  std::vector<Inventory::Group> groups_;
  std::size_t labels_ = 0;
};

// The readers, one for each format.
void ReadLines(std::string_view text, InventoryBuilder& out);
void ReadCsv(std::string_view text, InventoryBuilder& out);
void ReadAnsible(std::string_view text, InventoryBuilder& out);

// Calls `each` with every line of a text and its number; line ends are not part of it.
template <typename Each>
void ForEachLine(std::string_view text, Each each) {
  std::uint32_t number = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    each(line, ++number);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
}

}  // namespace muster::imports
