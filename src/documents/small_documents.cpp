#include "documents/small_documents.hpp"

#include <algorithm>

#include "documents/values.hpp"
#include "domain/host_ranges.hpp"
#include "domain/targets.hpp"

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
  if (mail && TextOf(root, "tls") == "none" && root.Find("password") != nullptr)
    context.problems.Add(root.Find("password")->at, "a password is sent over TLS only");
  if ((root.Find("user") == nullptr) != (root.Find("password") == nullptr) && mail)
    context.problems.Add(root.at, "'user' and 'password' go together");
}

}  // namespace

HostDocument BuildHost(const Context& context, const Node& root) {
  HostDocument host{.name = TextOf(root, "name"), .labels = {}};
  const Node* labels = root.Find("labels");
  for (auto& [name, value] : PairsOf(labels)) {
    if (CheckLabel(name, ""))
      if (const auto good = CheckLabel(name, value); !good)
        context.problems.Add(labels->Find(name)->at, "labels: {}", good.error().message);
    host.labels[name] = value;
  }
  return host;
}

GroupDocument BuildGroup(const Context& context, const Node& root) {
  GroupDocument group;
  group.name = TextOf(root, "name");
  group.description = TextOf(root, "description");
  group.targets = TextOf(root, "targets");
  for (const auto& part : TextsOf(root.Find("hosts")))
    if (const auto names = ExpandHostRanges(part))
      group.hosts.insert(group.hosts.end(), names->begin(), names->end());
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
