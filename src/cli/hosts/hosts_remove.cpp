#include <algorithm>
#include <memory>
#include <set>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/hosts/host_acts.hpp"
#include "cli/terminal/confirm.hpp"
#include "domain/host_ranges.hpp"
#include "domain/targets.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kHostsRemoveExamples = R"(Examples:
  muster hosts rm web7 --reason 'scrapped'             one that is gone, or never joined
  muster hosts rm 'lab[01-20]'                         several; also by pattern or label
  muster agents revoke web7 && muster hosts rm web7    one that is still connected

What such a host ran is lost and holds no concurrency keys any more; what waits for it ends
unreachable; the document that declares it (kind: host) is deleted with it. An agent that comes
back has to join again.)";

struct RemoveFlags {
  std::string targets;
  std::string reason;
  bool yes = false;
};

// Expressions are evaluated here, as the server's do not reach hosts that are revoked or have never
// joined.
class NamesOnly final : public TargetContext {
 public:
  Result<NameSet> Group(std::string_view name) const override {
    return Fail(ErrorCode::kInvalid,
                "'@{}': groups cannot be named here; 'muster hosts' shows whom a group means",
                name);
  }
  Result<NameSet> RunHosts(std::string_view id, std::string_view) const override {
    return Fail(ErrorCode::kInvalid, "'run:{}': runs cannot be named here; name the hosts", id);
  }
};

Labels LabelsOf(const json::value& host, std::string_view field) {
  Labels labels;
  if (const auto* list = FieldOf(host, field).if_object())
    for (const auto& [key, value] : *list)
      if (value.is_string()) labels[std::string(key)] = std::string_view(value.get_string());
  return labels;
}

// A host that is online cannot be removed, unless it was revoked.
bool StaysOnline(const json::value& host) {
  return FlagOf(host, "online") && TextOf(host, "state") != "revoked";
}

Error IsOnline(const std::string& name) {
  return {
      ErrorCode::kConflict,
      fmt::format("host '{0}' is online; revoke it first with 'muster agents revoke {0}'", name)};
}

// What an expression means: hosts that can be removed, and hosts that are online.
struct Meaning {
  std::vector<std::string> names;
  std::vector<std::string> online;
};

Result<std::vector<Host>> EveryHost(ApiClient& api, std::set<std::string>& online) {
  std::vector<Host> hosts;
  std::set<std::string> names;
  for (const auto* path : {"/hosts", "/missing"}) {
    const auto read = api.Pages(path, {{"limit", "5000"}}, "hosts", [&](const json::value& one) {
      Host host;
      host.name = TextOf(one, "name");
      host.labels = LabelsOf(one, "labels");
      host.facts = LabelsOf(one, "facts");
      if (StaysOnline(one)) online.insert(host.name);
      if (names.insert(host.name).second) hosts.push_back(std::move(host));
      return true;
    });
    if (!read) return Fail(read.error());
  }
  std::ranges::sort(hosts,
                    [](const auto& a, const auto& b) { return NaturalLess(a.name, b.name); });
  return hosts;
}

// The host of this name, which may be one that is declared and has not joined.
Result<Meaning> MeantByName(const Context& context, ApiClient& api, const std::string& name) {
  const auto host = Persist(context, kPatience, [&] { return api.Get("/hosts/" + Segment(name)); });
  if (host && StaysOnline(*host)) return Fail(IsOnline(name));
  if (host) return Meaning{{name}, {}};
  if (host.error().code != ErrorCode::kNotFound) return Fail(host.error());
  bool declared = false;
  const auto read =
      api.Pages("/missing", {{"limit", "5000"}}, "hosts", [&](const json::value& one) {
        declared = declared || TextOf(one, "name") == name;
        return !declared;
      });
  if (!read) return Fail(read.error());
  if (!declared) return Fail(host.error());
  return Meaning{{name}, {}};
}

Result<Meaning> Meant(const Context& context, ApiClient& api, const std::string& targets) {
  if (CheckHostName(targets)) return MeantByName(context, api, targets);
  const auto expression = TargetExpression::Parse(targets);
  if (!expression) return Fail(expression.error());
  std::set<std::string> online;
  const auto hosts = EveryHost(api, online);
  if (!hosts) return Fail(hosts.error());
  std::vector<const Host*> pointers;
  for (const auto& host : *hosts) pointers.push_back(&host);
  const auto found = expression->Resolve(pointers, NamesOnly());
  if (!found) return Fail(found.error());
  Meaning meaning;
  for (const auto index : *found) {
    const auto& name = (*hosts)[index].name;
    (online.contains(name) ? meaning.online : meaning.names).push_back(name);
  }
  return meaning;
}

Result<int> Remove(const Context& context, const RemoveFlags& flags) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto meant = Meant(context, *api, flags.targets);
  if (!meant) return Fail(meant.error());
  std::optional<Error> refused;
  for (const auto& name : meant->online) {
    refused = IsOnline(name);
    WriteMessage(OwnLine("muster: " + refused->message));
  }
  const auto* names = &meant->names;
  if (names->empty()) return ExitCodeOfError(ErrorCode::kConflict);
  const bool one = names->size() == 1;
  const auto agreed =
      Agreed(context, *api, flags.yes, Role::kAdmin,
             {.act = fmt::format("Forget {} and what is known of {}",
                                 one ? "host " + names->front() : Hosts(names->size()),
                                 one ? "it" : "them"),
              .count = names->size(),
              .names = one ? "" : FoldHostNames(*names, 500)});
  if (!agreed) return Fail(agreed.error());
  if (!*agreed) return kExitInterrupted;
  json::object body;
  if (!flags.reason.empty()) body["reason"] = flags.reason;
  json::array removed;
  for (const auto& name : *names) {
    const auto path = "/hosts/" + Segment(name) + "/remove";
    const auto done = Act(context, [&] { return api->Post(path, body); });
    if (done) {
      removed.push_back(*done);
      continue;
    }
    if (one) return Fail(done.error());
    WriteMessage(OwnLine("muster: " + done.error().message));
    refused = done.error();
    // Each of the others would wait for the server again.
    if (refused->code == ErrorCode::kUnavailable || refused->code == ErrorCode::kTimeout) break;
  }
  const auto count = removed.size();
  if (!context.PrintDocument(names->size() == 1 ? removed.front() : json::value(removed)))
    context.Say(names->size() == 1 ? fmt::format("{} is no longer known", names->front())
                                   : fmt::format("{} no longer known", Hosts(count)));
  return refused ? ExitCodeOfError(refused->code) : 0;
}

}  // namespace

void AddHostsRemove(CLI::App& hosts, Context& context) {
  auto* command = hosts.add_subcommand("rm", "Forget hosts that are gone, revoked or never joined");
  const auto flags = std::make_shared<RemoveFlags>();
  command->footer(kHostsRemoveExamples);
  command->add_option("targets", flags->targets, "The host, or an expression for several")
      ->required()
      ->type_name("EXPR");
  command->add_option("--reason", flags->reason, "Reason, for the audit trail");
  command->add_flag("-y,--yes", flags->yes, "Do not ask");
  command->callback([&context, flags] {
    context.action = [&context, flags] { return Remove(context, *flags); };
  });
}

}  // namespace muster::cli
