#include "imports/ansible.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/text.hpp"

namespace muster::imports {
namespace {

constexpr std::size_t kMostLevels = 32;

bool IsBuiltIn(std::string_view group) { return group == "all" || group == "ungrouped"; }

bool IsGroupName(std::string_view name) {
  return !name.empty() && name.size() <= 100 &&
         std::isalnum(static_cast<unsigned char>(name.front())) != 0 &&
         std::ranges::all_of(name, [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                  std::string_view("._-").contains(c);
         });
}

bool MayBeSecret(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::string_view kSigns[] = {"pass",  "secret", "token",   "private_key", "credential",
                                         "vault", "apikey", "api_key", "access_key"};
  return std::ranges::any_of(kSigns, [&](auto sign) { return lower.contains(sign); });
}

// Why a variable makes no label; nothing when it makes one.
std::optional<std::string> WhyNoLabel(const std::string& name, const AnsibleVar& var) {
  if (MayBeSecret(name))
    return fmt::format(
        "variable '{}' may hold a secret and was left out; keep it with 'muster secrets set'",
        name);
  if (name.starts_with("ansible_") && name != "ansible_host")
    return fmt::format("variable '{}' was left out: it is about how Ansible connects or runs",
                       name);
  if (!var.simple)
    return fmt::format("variable '{}' was left out: a label is one text, not a list or a map",
                       name);
  if (var.text.contains("{{"))
    return fmt::format("variable '{}' was left out: its template is Ansible's to evaluate", name);
  if (const auto good = CheckLabel(name, var.text); !good)
    return fmt::format("variable '{}' was left out: {}", name, good.error().message);
  return std::nullopt;
}

// More of it takes seconds.
constexpr std::size_t kMostLooks = 20'000'000;
using SharedVars = std::map<std::string_view, const AnsibleVar*>;

class Settler {
 public:
  Settler(const AnsibleInventory& inventory, InventoryBuilder& out)
      : inventory_(inventory), out_(out) {}

  void Run() {
    if (inventory_.groups.size() > kMostInventoryGroups)
      return out_.findings.Wrong({}, "more than {} groups", kMostInventoryGroups);
    for (const auto& [name, group] : inventory_.groups) {
      if (!IsBuiltIn(name) && !IsGroupName(name))
        out_.findings.Wrong(group.at, "'{}' cannot name a group; use letters, digits, . _ -", name);
      if (!LevelOf(name, 0)) return;
    }
    for (const auto& [name, group] : inventory_.groups)
      for (const auto& child : group.children) parents_[child].insert(name);
    AddHosts();
    AddGroups();
  }

 private:
  // How deep the groups below it go; 0 has none. Nothing when they go in a circle.
  std::optional<std::size_t> LevelOf(const std::string& name, std::size_t depth) {
    if (const auto known = levels_.find(name); known != levels_.end()) return known->second;
    const auto& group = inventory_.groups.at(name);
    if (depth > kMostLevels) {
      out_.findings.Wrong(group.at, "group '{}' is made of itself, or of more than {} levels", name,
                          kMostLevels);
      return std::nullopt;
    }
    std::size_t level = 0;
    for (const auto& child : group.children) {
      const auto below = LevelOf(child, depth + 1);
      if (!below) return std::nullopt;
      level = std::max(level, *below + 1);
    }
    return levels_[name] = level;
  }

  void Climb(const std::string& group, std::set<std::string>& above) const {
    if (!above.insert(group).second) return;
    if (const auto found = parents_.find(group); found != parents_.end())
      for (const auto& parent : found->second) Climb(parent, above);
  }

  // Outer groups first, so that inner ones win; among equals the later name does, as in Ansible.
  std::vector<std::string> Ordered(const std::set<std::string>& groups) const {
    std::vector<std::string> list(groups.begin(), groups.end());
    std::ranges::stable_sort(list, [&](const auto& a, const auto& b) {
      if ((a == "all") != (b == "all")) return a == "all";
      return levels_.at(a) > levels_.at(b);
    });
    return list;
  }

  void AddHosts() {
    std::map<std::string_view, std::set<std::string_view>> memberships;
    for (const auto& [name, group] : inventory_.groups)
      for (const auto host : group.hosts) memberships[host].insert(name);
    // Most hosts share their groups with others.
    std::map<std::set<std::string_view>, SharedVars> merged;
    for (const auto& name : inventory_.order) {
      if (out_.findings.Full()) return;
      const auto& direct = memberships[name];
      auto shared = merged.find(direct);
      if (shared == merged.end()) {
        auto vars = VarsOf(direct);
        if (!vars) return;
        shared = merged.emplace(direct, std::move(*vars)).first;
      }
      const auto& host = inventory_.hosts.at(name);
      Labels labels;
      for (const auto& [key, var] : shared->second)
        if (!host.vars.contains(std::string(key))) labels[std::string(key)] = var->text;
      for (const auto& [key, var] : host.vars)
        if (FitsLabel(key, var)) labels[key] = var.text;
      out_.AddHost(name, host.at, std::move(labels));
    }
  }

  // What hosts of these groups have from them, as far as it can be labels. Nothing: it is too much.
  std::optional<SharedVars> VarsOf(const std::set<std::string_view>& direct) {
    std::set<std::string> above;
    if (inventory_.groups.contains("all")) above.insert("all");
    for (const auto group : direct) Climb(std::string(group), above);
    SharedVars vars;
    for (const auto& group : Ordered(above)) {
      const auto& own = inventory_.groups.at(group);
      looked_at_ += own.vars.size();
      if (looked_at_ > kMostLooks) {
        out_.findings.Wrong(own.at,
                            "its groups have too many variables for so many sets of groups");
        return std::nullopt;
      }
      for (const auto& [key, var] : own.vars) vars[key] = &var;
    }
    std::erase_if(vars, [&](const auto& item) { return !FitsLabel(item.first, *item.second); });
    // Each of these sets has a host with all of these labels.
    kept_ += vars.size();
    if (kept_ <= kMostInventoryLabels) return vars;
    out_.findings.Wrong({}, "more than {} labels over all hosts", kMostInventoryLabels);
    return std::nullopt;
  }

  bool FitsLabel(std::string_view key, const AnsibleVar& var) {
    const auto why = WhyNoLabel(std::string(key), var);
    if (why) out_.findings.Remark(var.at, "{}", *why);
    return !why;
  }

  void AddGroups() {
    // From the inner to the outer, so that what a group is made of is known.
    std::vector<std::string> names;
    for (const auto& [name, group] : inventory_.groups)
      if (!IsBuiltIn(name)) names.push_back(name);
    std::ranges::stable_sort(names, {}, [&](const auto& name) { return levels_.at(name); });
    std::map<std::string, Inventory::Group> made;
    for (const auto& name : names) {
      const auto& group = inventory_.groups.at(name);
      Inventory::Group one{name, {}, {}};
      for (const auto& child : group.children)
        if (made.contains(child)) one.groups.push_back(child);
      if (group.hosts.empty() && one.groups.empty()) {
        out_.findings.Remark(group.at, "group '{}' was left out: it has no hosts", name);
        continue;
      }
      // Groups of groups alone stay that: their hosts are not looked at.
      if (!group.hosts.empty() && !ToNames(group, one)) return;
      made.emplace(name, std::move(one));
    }
    for (auto& [name, group] : made) out_.AddGroup(std::move(group));
  }

  // A document has either names or groups. False: these are too many, which is a problem.
  bool ToNames(const AnsibleGroup& group, Inventory::Group& one) {
    if (!one.groups.empty())
      out_.findings.Remark(
          group.at, "group '{}' becomes a list of names: it has hosts besides groups", one.name);
    one.groups.clear();
    std::set<std::string_view> hosts;
    std::set<std::string> seen;
    Gather(one.name, hosts, seen);
    if (gathered_ > kMostInventoryMembers) {
      out_.findings.Wrong(group.at, "more than {} hosts over all groups", kMostInventoryMembers);
      return false;
    }
    one.hosts.assign(hosts.begin(), hosts.end());
    return true;
  }

  // The hosts of a group and of those below it.
  void Gather(const std::string& name, std::set<std::string_view>& hosts,
              std::set<std::string>& seen) {
    if (IsBuiltIn(name) || !seen.insert(name).second) return;
    const auto& group = inventory_.groups.at(name);
    gathered_ += group.hosts.size();
    if (gathered_ > kMostInventoryMembers) return;
    hosts.insert(group.hosts.begin(), group.hosts.end());
    for (const auto& child : group.children) Gather(child, hosts, seen);
  }

  const AnsibleInventory& inventory_;
  InventoryBuilder& out_;
  std::map<std::string, std::size_t> levels_;
  std::map<std::string, std::set<std::string>> parents_;
  std::size_t gathered_ = 0;   // hosts, over all groups
  std::size_t looked_at_ = 0;  // variables of groups, over all sets of groups that hosts have
  std::size_t kept_ = 0;       // of these, what becomes labels
};

bool LooksLikeYaml(std::string_view text) {
  bool yaml = false;
  bool decided = false;
  ForEachLine(text, [&](std::string_view line, std::uint32_t) {
    const auto trimmed = Trim(line);
    if (decided || trimmed.empty() || trimmed.starts_with('#') || trimmed.starts_with(';')) return;
    decided = true;
    const auto key = trimmed.substr(0, trimmed.find(" #"));
    yaml = !trimmed.starts_with('[') &&
           (trimmed.starts_with("---") || trimmed.starts_with('{') || Trim(key).ends_with(':') ||
            (key.contains(": ") && !key.contains('=')));
  });
  return yaml;
}

}  // namespace

void Settle(const AnsibleInventory& inventory, InventoryBuilder& out) {
  Settler(inventory, out).Run();
}

void ReadAnsible(std::string_view text, InventoryBuilder& out) {
  AnsibleInventory inventory;
  if (LooksLikeYaml(text))
    ReadAnsibleYaml(text, inventory, out.findings);
  else
    ReadAnsibleIni(text, inventory, out.findings);
  if (out.findings.Good()) Settle(inventory, out);
}

}  // namespace muster::imports
