#include "cli/hosts/hosts_command.hpp"

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/context.hpp"
#include "cli/hosts/host_acts.hpp"
#include "cli/runs/no_match.hpp"
#include "cli/terminal/list.hpp"
#include "cli/terminal/output_option.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kHostsExamples = R"(Examples:
  muster hosts                                   every host
  muster hosts 'zone=sh1 and not @canary'        which hosts an expression means
  muster hosts --offline                         those that are known and not connected
  muster hosts -o wide                           with address, facts and times
  muster hosts -o names 'web*' | muster fold     as one line of ranges
  muster hosts show web7                         all that is known of one
  muster hosts label 'web*' zone=sh1             set a label; 'zone-' removes it
  muster hosts maintenance web7 --for 4h --reason disks    new runs leave it out
  muster hosts --missing                         declared or known, and not there
  muster hosts import inventory.ini              declare those that a file lists
  muster hosts rm web7 --reason 'scrapped'       forget one that is gone

Targets: web1  web*  web[01-20]  a,b  @group  zone=sh1  zone in (sh1,sh2)  app~"^test"  fact.os=debian
run:r12.failed  and or not ( )  all)";

std::string HostFactsText(const json::value& host) {
  std::string text;
  if (const auto* facts = FieldOf(host, "facts").if_object())
    for (const auto& [key, value] : *facts)
      if (value.is_string() && key != "os")
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", std::string_view(key),
                            std::string_view(value.get_string()));
  return text;
}

std::string LastSeen(const json::value& host) {
  const auto seen = TextOf(host, "last_seen");
  // Servers of earlier versions do not say it of hosts that are online.
  if (seen.empty() && FlagOf(host, "online")) return "now";
  return Ago(ParseTime(seen.empty() ? TextOf(host, "last_hello") : seen), WallNow());
}

Result<int> PrintHosts(const Context& context, const json::array& hosts) {
  const bool wide = context.output == "wide";
  std::vector<std::string> head{"NAME", "STATE", "LABELS", "OS", "LAST SEEN", "NOTE"};
  if (wide) head.insert(head.end(), {"ADDRESS", "RUNNING", "JOINED", "FACTS"});
  Table table(std::move(head));
  Tally states;
  std::uint64_t maintained = 0;
  for (const auto& host : hosts) {
    const auto maintenance = MaintenanceText(host, context.times);
    states.Add(HostStateWord(host));
    maintained += maintenance.empty() ? 0 : 1;
    std::vector<std::string> row{
        TextOf(host, "name"),
        HostStateWord(host),
        LabelsText(host),
        TextOf(FieldOf(host, "facts"), "os"),
        LastSeen(host),
        maintenance.empty() ? TextOf(host, "note") : "maintenance " + maintenance};
    if (wide)
      row.insert(row.end(), {TextOf(host, "address"), std::to_string(NumberOf(host, "running")),
                             context.times.Text(TextOf(host, "joined")), HostFactsText(host)});
    table.Add(std::move(row));
  }
  if (!wide) table.Fit(context.terminal.columns, {3, 2, 5});
  const auto summary =
      states.Text("host") +
      (maintained == 0 ? "" : fmt::format("; {} in maintenance", Count(maintained)));
  return ShowList(context, table.Text(context.terminal.colour_out, 1), summary);
}

}  // namespace

std::string LabelsText(const json::value& host) {
  std::string text;
  if (const auto* labels = FieldOf(host, "labels").if_object())
    for (const auto& [key, value] : *labels)
      if (value.is_string())
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", std::string_view(key),
                            std::string_view(value.get_string()));
  return text;
}

std::string HostStateWord(const json::value& host) {
  const auto state = TextOf(host, "state");
  if (state != "active") return state;
  return FlagOf(host, "online") ? "online" : "offline";
}

std::string MaintenanceText(const json::value& host, const Times& times) {
  const auto& maintenance = FieldOf(host, "maintenance");
  if (!maintenance.is_object()) return "";
  const auto until = TextOf(maintenance, "until");
  return fmt::format("{}by {}: {}", until.empty() ? "" : "until " + times.Text(until) + " ",
                     TextOf(maintenance, "by"), TextOf(maintenance, "reason"));
}

Result<int> ListHosts(const Context& context, const HostsChoice& choice) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  json::array hosts;
  std::uint64_t online = 0;
  const auto first = api->Pages("/hosts", {{"targets", choice.targets}, {"limit", "5000"}}, "hosts",
                                [&](const json::value& host) {
                                  const bool there = FlagOf(host, "online");
                                  if (there ? choice.offline : choice.online) return true;
                                  online += there ? 1 : 0;
                                  hosts.push_back(host);
                                  return true;
                                });
  if (!first) return Fail(NamedNoMatch(*api, first.error(), choice.targets));
  if (context.output == "names") {
    std::vector<std::string> names;
    for (const auto& host : hosts) names.push_back(TextOf(host, "name"));
    PrintNames(names);
    return 0;
  }
  if (context.PrintDocument(
          json::object{{"hosts", hosts}, {"total", hosts.size()}, {"online", online}}))
    return 0;
  return PrintHosts(context, hosts);
}

void AddHosts(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("hosts", "List hosts");
  const auto choice = std::make_shared<HostsChoice>();
  command->footer(kHostsExamples);
  const auto missing = std::make_shared<bool>(false);
  auto* which = command->add_option("targets", choice->targets, "Only these")->type_name("EXPR");
  auto* online = command->add_flag("--online", choice->online, "Only those that are connected");
  auto* offline =
      command->add_flag("--offline", choice->offline, "Only those that are not")->excludes(online);
  command->add_flag("--missing", *missing, "Only hosts that never joined or are offline")
      ->excludes(which)
      ->excludes(online)
      ->excludes(offline);
  AddOutputOption(*command, context, {"wide", "names"});
  AddHostShow(*command, context);
  AddHostActs(*command, context);
  command->callback([&context, choice, missing, command] {
    if (!command->get_subcommands().empty()) return;  // theirs comes first
    context.action = [&context, choice, missing] {
      return *missing ? ListMissing(context) : ListHosts(context, *choice);
    };
  });
}

}  // namespace muster::cli
