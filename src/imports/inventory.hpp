#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "documents/documents.hpp"
#include "domain/host.hpp"

// Lists of hosts that people have already, read into Muster's documents. Pure: the same text gives
// the same inventory.
namespace muster::imports {

enum class InventoryFormat : std::uint8_t {
  kLines,    // names and ranges (web[01-20]), '#' begins a comment
  kCsv,      // a header with a column name, host or hostname; the other columns are labels
  kAnsible,  // an inventory in INI or YAML
};

struct Inventory {
  struct Host {
    std::string name;
    Labels labels;
    documents::Position at;
  };
  // Either names, or groups it is made of.
  struct Group {
    std::string name;
    std::vector<std::string> hosts;
    std::vector<std::string> groups;
  };

  std::vector<Host> hosts;                   // in the order of the file, each name once
  std::vector<Group> groups;                 // by name; none is empty
  std::vector<documents::Problem> problems;  // with one, nothing of it is to be used
  std::vector<documents::Problem> remarks;   // what was left out or changed
};

constexpr std::size_t kMostInventoryBytes = 16 << 20;
constexpr std::size_t kMostInventoryHosts = 100'000;
constexpr std::size_t kMostInventoryGroups = 5'000;
constexpr std::size_t kMostInventoryMembers = 1'000'000;  // over all groups
constexpr std::size_t kMostInventoryLabels = 2'000'000;   // over all hosts

// What a file seems to be, by its name and its first lines.
InventoryFormat GuessFormat(std::string_view file, std::string_view text);

Inventory ReadInventory(const documents::Source& source, InventoryFormat format);

// The documents of a host (`kind: host`) and of a group (`kind: group`), as YAML.
std::string DocumentOf(const Inventory::Host& host);
std::string DocumentOf(const Inventory::Group& group);

}  // namespace muster::imports
