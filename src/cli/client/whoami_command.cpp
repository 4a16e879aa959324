#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/context.hpp"

namespace muster::cli {
namespace {

Result<int> WhoAmI(const Context& context) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  auto me = api->Get("/whoami");
  if (!me) return Fail(me.error());
  if (me->is_object()) me->get_object()["server"] = context.server;
  if (context.PrintDocument(*me)) return 0;
  const auto expires = TextOf(*me, "expires");
  Write(stdout, OwnLine(fmt::format(
                    "{}: {} at {}, {}", TextOf(*me, "name"), TextOf(*me, "role"), context.server,
                    expires.empty() ? "never expires" : "expires " + context.times.Text(expires))));
  return 0;
}

}  // namespace

void AddWhoAmI(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("whoami", "Show whose token is in use, and its role");
  command->footer("Examples:\n  muster whoami\n  muster --token-file alice.token whoami -o json");
  command->callback([&context] { context.action = [&context] { return WhoAmI(context); }; });
}

}  // namespace muster::cli
