#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/api_client.hpp"
#include "cli/context.hpp"

namespace muster::cli {
namespace {

Result<int> Status(const Context& context) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto status = api->Get("/status");
  if (!status) return Fail(status.error());
  if (context.PrintDocument(*status)) return 0;
  const auto number = [&](std::string_view field) {
    return static_cast<std::uint64_t>(NumberOf(*status, field));
  };
  Write(stdout, fmt::format("server   {} ({}), up {}\ncluster  {}, term {}, commit {}{}\nhosts    "
                            "{}, {} online\nruns     {} open\n",
                            context.server, TextOf(*status, "version"),
                            Lasted(Duration(NumberOf(*status, "uptime_ms"))),
                            TextOf(*status, "cluster"), number("term"), number("commit"),
                            FlagOf(*status, "leader") ? "" : " (follower)", Count(number("hosts")),
                            Count(number("online")), Count(number("open_runs"))));
  return 0;
}

}  // namespace

void AddStatus(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("status", "Say how the server is");
  command->footer("Examples:\n  muster status\n  muster status -o json");
  command->callback([&context] { context.action = [&context] { return Status(context); }; });
}

void AddVersion(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("version", "Say which version this is");
  command->footer("Examples:\n  muster version");
  command->callback([&context] {
    context.action = [&context]() -> Result<int> {
      const boost::json::object version{{"version", MUSTER_VERSION}};
      if (!context.PrintDocument(version))
        Write(stdout, fmt::format("muster {}\n", MUSTER_VERSION));
      return 0;
    };
  });
}

}  // namespace muster::cli
