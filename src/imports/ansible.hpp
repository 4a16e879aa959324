#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "imports/inventory_builder.hpp"

namespace muster::imports {

// A variable as an inventory writes it.
struct AnsibleVar {
  std::string text;
  Position at;
  bool simple = true;  // one text; else a list or a map, which is no label
};
using AnsibleVars = std::map<std::string, AnsibleVar>;

struct AnsibleGroup {
  Position at;
  std::set<std::string_view> hosts;  // keys of AnsibleInventory::hosts
  std::set<std::string> children;
  AnsibleVars vars;
};

struct AnsibleHost {
  Position at;
  AnsibleVars vars;
};

// An inventory as Ansible means it, whichever way it was written. Groups `all` and `ungrouped` are
// Ansible's own: their variables count, they make no groups.
struct AnsibleInventory {
  AnsibleInventory() = default;
  AnsibleInventory(const AnsibleInventory&) = delete;
  AnsibleInventory& operator=(const AnsibleInventory&) = delete;

  std::map<std::string, AnsibleGroup> groups;
  std::map<std::string, AnsibleHost> hosts;
  std::vector<std::string> order;  // of hosts, as they first came
  std::size_t named = 0;           // how often a host was named, alone or in a range
  std::size_t given = 0;           // how many variables that gave them

  // Puts a host into a group, or into none ("").
  void Add(const std::string& name, Position at, const std::string& group, const AnsibleVars& vars,
           Findings& findings);
};

// "www[01:50:2].example.com" and "db-[a:f]". kInvalid when a range is malformed or means more than
// `most` names.
Result<std::vector<std::string>> ExpandAnsibleRange(std::string_view pattern, std::size_t most);

// Splits "host:port"; the port is "" when there is none.
std::pair<std::string_view, std::string_view> CutPort(std::string_view pattern);

// Adds the hosts a pattern means, until all patterns name more than kMostInventoryMembers.
void AddPattern(AnsibleInventory& inventory, std::string_view pattern, Position at,
                const std::string& group, const AnsibleVars& vars, Findings& findings);

void ReadAnsibleIni(std::string_view text, AnsibleInventory& out, Findings& findings);
void ReadAnsibleYaml(std::string_view text, AnsibleInventory& out, Findings& findings);

// What an inventory comes to: each host with the variables that win there as labels (all, then
// groups from the outer to the inner, then its own), and groups.
void Settle(const AnsibleInventory& inventory, InventoryBuilder& out);

}  // namespace muster::imports
