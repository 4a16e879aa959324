#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/hosts/hosts_command.hpp"
#include "cli/terminal/list.hpp"
#include "cli/terminal/output_option.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

std::string StateWord(const json::value& host) {
  const auto state = TextOf(host, "state");
  return state == "never_joined" ? "never joined" : state;
}

}  // namespace

Result<int> ListMissing(const Context& context) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  json::array hosts;
  const auto first =
      api->Pages("/missing", {{"limit", "5000"}}, "hosts", [&](const json::value& host) {
        hosts.push_back(host);
        return true;
      });
  if (!first) return Fail(first.error());
  if (context.output == "names") {
    std::vector<std::string> names;
    for (const auto& host : hosts) names.push_back(TextOf(host, "name"));
    PrintNames(names);
    return 0;
  }
  if (context.PrintDocument(json::object{{"hosts", hosts}, {"total", FieldOf(*first, "total")}}))
    return 0;
  const auto now = WallNow();
  Table table({"NAME", "STATE", "SINCE", "LAST SEEN", "DECLARED", "LABELS"});
  for (const auto& host : hosts)
    table.Add({TextOf(host, "name"), StateWord(host), Ago(ParseTime(TextOf(host, "since")), now),
               Ago(ParseTime(TextOf(host, "last_seen")), now),
               FlagOf(host, "declared") ? "yes" : "no", LabelsText(host)});
  table.Fit(context.terminal.columns, {5});
  const auto total = static_cast<std::uint64_t>(NumberOf(*first, "total"));
  return ShowList(context, hosts.empty() ? std::string() : table.Text(context.terminal.colour_out),
                  fmt::format("{} missing", Hosts(total)));
}

}  // namespace muster::cli
