#include "cli/hosts_command.hpp"

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/api_client.hpp"
#include "cli/context.hpp"
#include "cli/host_acts.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kHostsExamples = R"(Examples:
  muster hosts                                   every host
  muster hosts 'zone=sh1 and not @canary'        which hosts an expression means
  muster hosts web7 -o json
  muster hosts label 'web*' zone=sh1             set a label; 'zone-' removes it
  muster hosts maintenance web7 --for 4h --reason disks    new runs leave it out
  muster hosts --missing                         declared or known, and not there
  muster hosts import inventory.ini              declare those that a file lists
  muster hosts rm web7 --reason 'scrapped'       forget one that is gone

Targets: web1  web*  web[01-20]  a,b  @group  zone=sh1  zone in (sh1,sh2)  app~"^test"  fact.os=debian
run:r12.failed  and or not ( )  all)";

std::string StateOf(const json::value& host) {
  const auto state = TextOf(host, "state");
  if (state != "active") return state;
  return FlagOf(host, "online") ? "online" : "offline";
}

std::string LastSeen(const json::value& host) {
  const auto seen = TextOf(host, "last_seen");
  // Servers of earlier versions do not say it of hosts that are online.
  if (seen.empty() && FlagOf(host, "online")) return "now";
  return Ago(ParseTime(seen.empty() ? TextOf(host, "last_hello") : seen), WallNow());
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

Result<int> ListHosts(const Context& context, const std::string& targets) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  json::array hosts;
  const auto first = api->Pages("/hosts", {{"targets", targets}, {"limit", "5000"}}, "hosts",
                                [&](const json::value& host) {
                                  hosts.push_back(host);
                                  return true;
                                });
  if (!first) return Fail(first.error());
  if (context.PrintDocument(json::object{{"hosts", hosts},
                                         {"total", FieldOf(*first, "total")},
                                         {"online", FieldOf(*first, "online")}}))
    return 0;
  const auto note = [](const json::value& host) {
    const auto& maintenance = FieldOf(host, "maintenance");
    if (!maintenance.is_object()) return TextOf(host, "note");
    const auto until = TextOf(maintenance, "until");
    return fmt::format("maintenance{} by {}: {}", until.empty() ? "" : " until " + until,
                       TextOf(maintenance, "by"), TextOf(maintenance, "reason"));
  };
  Table table({"NAME", "STATE", "LABELS", "OS", "LAST SEEN", "NOTE"});
  for (const auto& host : hosts)
    table.Add({TextOf(host, "name"), StateOf(host), LabelsText(host),
               TextOf(FieldOf(host, "facts"), "os"), LastSeen(host), note(host)});
  table.Fit(context.terminal.columns, {3, 2, 5});
  Write(stdout, table.Text(context.terminal.colour_out, 1));
  context.Say(fmt::format("{}, {} online",
                          Hosts(static_cast<std::uint64_t>(NumberOf(*first, "total"))),
                          Count(static_cast<std::uint64_t>(NumberOf(*first, "online")))));
  return 0;
}

void AddHosts(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("hosts", "List hosts");
  const auto targets = std::make_shared<std::string>();
  command->footer(kHostsExamples);
  const auto missing = std::make_shared<bool>(false);
  auto* which = command->add_option("targets", *targets, "Only these")->type_name("EXPR");
  command->add_flag("--missing", *missing, "Those that never joined, or are away")->excludes(which);
  AddHostActs(*command, context);
  command->callback([&context, targets, missing, command] {
    if (!command->get_subcommands().empty()) return;  // theirs comes first
    context.action = [&context, targets, missing] {
      return *missing ? ListMissing(context) : ListHosts(context, *targets);
    };
  });
}

}  // namespace muster::cli
