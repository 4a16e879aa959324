#include "documents/kinds/group.hpp"

#include "documents/fields.hpp"
#include "documents/keys.hpp"
#include "documents/kinds.hpp"
#include "domain/target_lexer.hpp"
#include "domain/targets.hpp"
#include "domain/template.hpp"

namespace muster::documents {
namespace {

using namespace table;  // NOLINT(google-build-using-namespace): its words

// Names and ranges of them. Past what a document may name, nothing more is looked at.
std::vector<std::string> HostsOf(const Context& context, const Node* list) {
  std::vector<std::string> hosts;
  if (list == nullptr || !list->IsList()) return hosts;
  for (const auto& item : list->items) {
    if (!item.IsText() || item.text.empty() || HasExpressions(item.text)) continue;
    const auto names = context.budget.Expand(item.text);
    if (names)
      hosts.insert(hosts.end(), names->begin(), names->end());
    else
      context.problems.Add(item.at, "hosts: {}", names.error().message);
    if (context.budget.Spent()) break;
  }
  return hosts;
}

}  // namespace

const Shape& GroupShape() {
  static const Shape shape = [] {
    Shape group{"group", "a group", HeadKeys("group", Form::kName, "Used as `@NAME` in targets.")};
    Append(group.keys, {{"description", Text(Form::kProse), "For people."},
                        {"targets", Text(Form::kTargets), "Its hosts by an expression."},
                        {"hosts", ListOf(Text(Form::kHosts)),
                         "Its hosts by name; `web[01-20]` stands for several."}});
    group.one_of = {{"targets", "hosts"}};
    return group;
  }();
  return shape;
}

GroupDocument BuildGroup(const Context& context, const Node& root) {
  GroupDocument group;
  group.name = TextOf(root, "name");
  group.description = TextOf(root, "description");
  group.targets = TextOf(root, "targets");
  group.hosts = HostsOf(context, root.Find("hosts"));
  if (!group.targets.contains('@')) return group;
  if (const auto expression = TargetExpression::Parse(group.targets))
    for (const auto& part : expression->Groups())
      if (part == group.name)
        context.problems.Add(root.Find("targets")->at, "group '{}' is made of itself", group.name);
  return group;
}

// Groups that a group is made of. Their words tell, so no expression is built for it.
std::vector<Reference> ReferencesOf(const GroupDocument& group) {
  std::vector<Reference> references;
  const auto tokens = LexTargets(group.targets);
  if (!tokens) return references;
  for (const auto& token : *tokens)
    if (token.kind == TargetToken::Kind::kWord && token.text.starts_with('@'))
      references.push_back(
          {.kind = Kind::kGroup, .name = token.text.substr(1), .key = "targets", .needed = false});
  return references;
}

}  // namespace muster::documents
