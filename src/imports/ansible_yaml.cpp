#include "documents/yaml_reader.hpp"
#include "imports/ansible.hpp"

namespace muster::imports {
namespace {

using documents::Node;

class YamlInventory {
 public:
  YamlInventory(AnsibleInventory& out, Findings& findings) : out_(out), findings_(findings) {}

  void TakeRoot(const Node& root) {
    if (root.Find("plugin") != nullptr)
      return findings_.Wrong(root.FindKey("plugin")->at,
                             "this configures a plugin and lists no hosts; import what "
                             "'ansible-inventory --list --yaml' prints");
    if (root.Find("_meta") != nullptr)
      return findings_.Wrong(root.FindKey("_meta")->at,
                             "this is JSON for programs; import what 'ansible-inventory --list "
                             "--yaml' prints");
    TakeGroups(root, "");
  }

 private:
  // Both a list of names and a map of them are met.
  void TakeGroups(const Node& groups, const std::string& parent) {
    if (groups.kind == Node::Kind::kNothing) return;
    if (!groups.IsMap())
      return findings_.Wrong(groups.at, "expected groups as a map, found {}", Found(groups));
    for (std::size_t i = 0; i < groups.keys.size(); ++i) {
      const auto& name = groups.keys[i];
      out_.groups.try_emplace(name.text, AnsibleGroup{name.at, {}, {}, {}});
      if (!parent.empty()) out_.groups[parent].children.insert(name.text);
      TakeGroup(groups.items[i], name.text);
    }
  }

  void TakeGroup(const Node& group, const std::string& name) {
    if (group.kind == Node::Kind::kNothing) return;
    if (!group.IsMap())
      return findings_.Wrong(group.at, "expected hosts, children or vars, found {}", Found(group));
    for (std::size_t i = 0; i < group.keys.size(); ++i) {
      const auto& key = group.keys[i];
      const Node& value = group.items[i];
      if (key.text == "hosts")
        TakeHosts(value, name);
      else if (key.text == "children")
        TakeGroups(value, name);
      else if (key.text == "vars")
        TakeVars(value, out_.groups[name].vars);
      else
        findings_.Remark(key.at, "'{}' was left out: a group has hosts, children and vars",
                         key.text);
    }
  }

  void TakeHosts(const Node& hosts, const std::string& group) {
    if (hosts.kind == Node::Kind::kNothing) return;
    // One name as a text, as Ansible reads it.
    if (hosts.IsText()) return AddPattern(out_, hosts.text, hosts.at, group, {}, findings_);
    if (!hosts.IsMap())
      return findings_.Wrong(hosts.at, "expected hosts as a map, found {}", Found(hosts));
    for (std::size_t i = 0; i < hosts.keys.size() && !findings_.Full(); ++i) {
      AnsibleVars vars;
      TakeVars(hosts.items[i], vars);
      AddPattern(out_, hosts.keys[i].text, hosts.keys[i].at, group, vars, findings_);
    }
  }

  void TakeVars(const Node& node, AnsibleVars& vars) {
    if (node.kind == Node::Kind::kNothing) return;
    if (!node.IsMap())
      return findings_.Wrong(node.at, "expected variables as a map, found {}", Found(node));
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
      const Node& value = node.items[i];
      vars[node.keys[i].text] = {value.text, node.keys[i].at,
                                 value.IsText() || value.kind == Node::Kind::kNothing};
    }
  }

  AnsibleInventory& out_;
  Findings& findings_;
};

}  // namespace

void ReadAnsibleYaml(std::string_view text, AnsibleInventory& out, Findings& findings) {
  const auto pieces = documents::CutDocuments(text);
  if (pieces.empty()) return findings.Wrong({}, "the file is empty");
  if (pieces.size() > 1)
    return findings.Wrong({pieces[1].first_line, 1}, "an inventory is one document");
  documents::Problems problems;
  const auto root = documents::ReadYaml(pieces.front(), problems, documents::Aliases::kTaken);
  for (const auto& problem : std::move(problems).Take(""))
    findings.Wrong(problem.position, "{}", problem.sentence);
  if (!root) return;
  if (!root->IsMap())
    return findings.Wrong(root->at, "expected groups as a map, found {}", Found(*root));
  YamlInventory(out, findings).TakeRoot(*root);
}

}  // namespace muster::imports
