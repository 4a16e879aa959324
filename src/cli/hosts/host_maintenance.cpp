#include <memory>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/hosts/host_acts.hpp"
#include "cli/terminal/confirm.hpp"
#include "cli/terminal/times.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kHostMaintenanceExamples = R"(Examples:
  muster hosts maintenance web7 --for 4h --reason 'new disks'    runs leave it out
  muster hosts maintenance web7 --end                            and take it again
  muster run --include-maintenance -t web7 -- smartctl -a /dev/sda)";

struct MaintenanceFlags {
  std::string targets;
  std::string lasts;
  std::string reason;
  bool end = false;
  bool yes = false;
};

Result<json::object> BodyOf(const MaintenanceFlags& flags) {
  json::object body{{"targets", flags.targets}};
  if (flags.end) {
    if (!flags.lasts.empty())
      return Fail(ErrorCode::kInvalid, "--end and --for exclude each other");
    body["end"] = true;
    return body;
  }
  if (Trim(flags.reason).empty())
    return Fail(ErrorCode::kInvalid,
                "--reason is missing: say why; runs that leave the hosts out show it");
  body["reason"] = flags.reason;
  if (flags.lasts.empty()) return body;
  const auto lasts = Lasting("--for", flags.lasts, Duration(1), std::chrono::days(366));
  if (!lasts) return Fail(lasts.error());
  body["for_seconds"] = std::chrono::ceil<std::chrono::seconds>(*lasts).count();
  return body;
}

// What each of these hosts that is in maintenance already is there for; of many, the first few.
struct Maintained {
  std::size_t hosts = 0;
  std::vector<std::string> notes = {};
};

Result<Maintained> FindMaintained(const Context& context, ApiClient& api,
                                  const std::string& targets) {
  constexpr std::size_t kMostNotes = 5;
  Maintained found;
  const auto hosts = Persist(context, kPatience, [&] {
    found = {};
    return api.Pages(
        "/hosts", {{"targets", targets}, {"limit", "5000"}}, "hosts", [&](const json::value& host) {
          const auto& maintenance = FieldOf(host, "maintenance");
          if (!maintenance.is_object() || ++found.hosts > kMostNotes) return true;
          const auto until = TextOf(maintenance, "until");
          found.notes.push_back(
              fmt::format("{} is in maintenance{} ({}: {})", TextOf(host, "name"),
                          until.empty() ? "" : " until " + context.err_times.Text(until),
                          TextOf(maintenance, "by"), TextOf(maintenance, "reason")));
          return true;
        });
  });
  if (!hosts) return Fail(hosts.error());
  if (found.hosts > kMostNotes)
    found.notes.push_back(fmt::format("and {} more are", found.hosts - kMostNotes));
  return found;
}

// Asks before hosts are taken out of runs, and before what somebody set for several hosts ends.
Result<bool> AgreedTo(const Context& context, ApiClient& api, const MaintenanceFlags& flags) {
  if (flags.yes || !context.CanAsk()) return true;
  auto known = FindMaintained(context, api, flags.targets);
  if (!known) return Fail(known.error());
  if (flags.end && known->hosts < 2) return true;
  if (!flags.end && known->hosts > 0)
    known->notes.push_back("This replaces it: its end, its reason and who set it.");
  return AgreedOnHosts(context, api, false, Role::kOperator, flags.targets,
                       flags.end ? "End the maintenance of" : "Put",
                       flags.end ? "" : "into maintenance", std::move(known->notes));
}

Result<int> Maintain(const Context& context, const MaintenanceFlags& flags) {
  const auto body = BodyOf(flags);
  if (!body) return Fail(body.error());
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto agreed = AgreedTo(context, *api, flags);
  if (!agreed) return Fail(agreed.error());
  if (!*agreed) return kExitInterrupted;
  const auto done = Act(context, [&] { return api->Post("/hosts/maintenance", *body); });
  if (!done) return Fail(done.error());
  if (context.PrintDocument(*done)) return 0;
  const auto hosts = static_cast<std::uint64_t>(NumberOf(*done, "hosts"));
  const auto changed = static_cast<std::uint64_t>(NumberOf(*done, "changed"));
  if (flags.end)
    context.Say(changed == 0 ? fmt::format("nothing to end: {} not in maintenance", Hosts(hosts))
                             : fmt::format("{} out of maintenance", Hosts(changed)));
  else
    context.Say(fmt::format("{} in maintenance{}; new runs leave them out", Hosts(hosts),
                            flags.lasts.empty() ? "" : " for " + flags.lasts));
  return 0;
}

}  // namespace

void AddHostMaintenance(CLI::App& hosts, Context& context) {
  auto* command = hosts.add_subcommand("maintenance", "Put hosts into maintenance");
  const auto flags = std::make_shared<MaintenanceFlags>();
  command->footer(kHostMaintenanceExamples);
  command->add_option("targets", flags->targets, "Which hosts")->required()->type_name("EXPR");
  command->add_option("--for", flags->lasts, "How long (default: until --end)")
      ->type_name("DURATION");
  command->add_option("--reason", flags->reason, "Reason, shown by runs that leave the hosts out");
  command->add_flag("--end", flags->end, "End the maintenance");
  command->add_flag("-y,--yes", flags->yes, "Do not ask");
  command->callback([&context, flags] {
    context.action = [&context, flags] { return Maintain(context, *flags); };
  });
}

}  // namespace muster::cli
