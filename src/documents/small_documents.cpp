#include "documents/small_documents.hpp"

#include <algorithm>

#include "documents/values.hpp"
#include "domain/channel.hpp"
#include "domain/targets.hpp"
#include "domain/template.hpp"

namespace muster::documents {
namespace {

// Keys that belong to another type of channel, or that this one lacks.
void CheckChannel(const Context& context, const Node& root, ChannelType type) {
  const bool mail = type == ChannelType::kSmtp;
  const auto check = [&](std::string_view key, bool belongs, bool required) {
    const Node* given = root.FindKey(key);
    if (given != nullptr && !belongs)
      context.problems.Add(given->at, "'{}' says nothing for type {}", key, Name(type));
    if (given == nullptr && belongs && required)
      context.problems.Add(root.at, "a channel of type {} needs '{}'", Name(type), key);
  };
  check("url", !mail, true);
  check("headers", !mail, false);
  check("server", mail, true);
  check("from", mail, true);
  check("to", mail, true);
  check("user", mail, false);
  check("password", mail, false);
  check("subject", mail, false);
  check("tls", mail, false);
  if (const Node* headers = root.Find("headers");
      headers != nullptr && headers->keys.size() > kMaxChannelHeaders)
    context.problems.Add(headers->keys[kMaxChannelHeaders].at, "a channel has at most {} headers",
                         kMaxChannelHeaders);
  if (mail && TextOf(root, "tls") == "none" && root.Find("password") != nullptr)
    context.problems.Add(root.Find("password")->at, "a password is sent over TLS only");
  if ((root.Find("user") == nullptr) != (root.Find("password") == nullptr) && mail)
    context.problems.Add(root.at, "'user' and 'password' go together");
}

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

HostDocument BuildHost(const Context& context, const Node& root) {
  HostDocument host{.name = TextOf(root, "name"), .labels = {}};
  const Node* labels = root.Find("labels");
  if (labels == nullptr || !labels->IsMap()) return host;
  for (std::size_t i = 0; i < labels->keys.size(); ++i) {
    const std::string& name = labels->keys[i].text;
    const Node& value = labels->items[i];
    if (!value.IsText()) continue;
    if (CheckLabel(name, ""))
      if (const auto good = CheckLabel(name, value.text); !good)
        context.problems.Add(value.at, "labels: {}", good.error().message);
    host.labels[name] = value.text;
  }
  return host;
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

ChannelDocument BuildChannel(const Context& context, const Node& root) {
  ChannelDocument channel;
  channel.name = TextOf(root, "name");
  channel.description = TextOf(root, "description");
  const auto type = TextOf(root, "type");
  if (type == "chat") channel.type = ChannelType::kChat;
  if (type == "smtp") channel.type = ChannelType::kSmtp;
  channel.url = TextOf(root, "url");
  channel.headers = PairsOf(root.Find("headers"));
  channel.server = TextOf(root, "server");
  channel.from = TextOf(root, "from");
  channel.to = TextsOf(root.Find("to"));
  channel.user = TextOf(root, "user");
  channel.password = TextOf(root, "password");
  channel.subject = TextOf(root, "subject");
  channel.tls = TextOf(root, "tls");
  if (type == Name(channel.type)) CheckChannel(context, root, channel.type);
  return channel;
}

}  // namespace muster::documents
