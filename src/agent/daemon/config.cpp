#include "agent/daemon/config.hpp"

#include "adapters/net/client.hpp"
#include "agent/identity.hpp"

namespace muster::agent {
namespace {

Result<> CheckPair(const std::string& pair) {
  const auto equals = pair.find('=');
  if (equals == std::string::npos) return Fail(ErrorCode::kInvalid, "{}: write KEY=VALUE", pair);
  return CheckLabel(pair.substr(0, equals), pair.substr(equals + 1));
}

Result<> CheckName(const std::string& name) {
  return name.empty() ? Result<>{} : CheckHostName(name);
}

Result<> CheckServers(const std::string& text) {
  for (const auto& server : SplitServers(text)) {
    const auto endpoint = net::ParseEndpoint(server);
    if (!endpoint) return Fail(endpoint.error());
    if (!endpoint->tls)
      return Fail(ErrorCode::kInvalid, "'{}': agents speak TLS only; write https://…", server);
  }
  return {};
}

}  // namespace

settings::Table Describe(Config& config) {
  using namespace settings;
  return {
      Text("server", config.server,
           "URL of the server to join, https://…; of several, with commas.")
          .Checked(CheckServers),
      Path("data", config.data, "The data folder: identity and running tasks."),
      Text("name", config.name, "Name of this host at the join; empty is the machine's own.")
          .Checked(CheckName),
      Pairs("labels", config.labels, "Labels of this host at the join; those of the invite win.")
          .Checked(CheckPair),
      Path("join_file", config.join_file, "File with the token of 'muster agents invite'."),
      Path("ca", config.ca, "Believe this CA at the join instead of the token's fingerprint."),
      Section(
          "run_as", "Who tasks run as; this agent enforces it, whatever a server says.",
          {Text("default", config.run_as.default_user,
                "For tasks that name no user; empty is the agent's own."),
           List("allow", config.run_as.allow,
                "Users that tasks may name, besides the default. Without a default and a "
                "list: any."),
           Flag("restarts", config.run_as.restarts,
                "Whether jobs may restart this host with `reboot:` without a `command`, which is "
                "done with the agent's rights.")})
          .Live(),
      Size("max_spool", config.max_spool, "Output that waits for the server, of all tasks.").Live(),
      Path("history", config.history,
           "File that grows by a line for each order, start and end, for 'muster check history'."),
      Choice("log_level", config.log_level, "How much is logged.",
             {"debug", "info", "warn", "error"})
          .Live(),
  };
}

}  // namespace muster::agent
