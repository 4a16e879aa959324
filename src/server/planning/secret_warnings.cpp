#include "server/planning/secret_warnings.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "documents/kinds/channel.hpp"
#include "domain/channel.hpp"
#include "domain/host_ranges.hpp"
#include "domain/plan_secrets.hpp"
#include "domain/targets.hpp"
#include "server/planning/job_book.hpp"
#include "server/planning/known_names.hpp"

namespace muster::server {
namespace {

constexpr std::string_view kFactPrefix = "fact.";
constexpr std::size_t kMostWarnedNames = 200;
constexpr std::size_t kMostMissingNamed = 20;

// What expressions look at in hosts, also in the groups they name.
std::set<std::string> LabelsUsed(Store& store, std::vector<std::string> open) {
  std::set<std::string> labels;
  std::set<std::string> groups;
  while (!open.empty()) {
    const auto expression = TargetExpression::Parse(open.back());
    open.pop_back();
    if (!expression) continue;
    for (auto& label : expression->LabelsUsed()) labels.insert(std::move(label));
    for (const auto& name : expression->Groups()) {
      if (!groups.insert(name).second) continue;
      const auto kept = store.FindDocument("group", name, 0);
      if (!kept || !*kept) continue;
      const auto document = ReadKept(**kept);
      if (!document) continue;
      if (const auto* group = std::get_if<documents::GroupDocument>(&document->body))
        open.push_back(group->targets);
    }
  }
  return labels;
}

// Hosts that chose one of these labels themselves, and the labels they chose.
void FindOwn(const LiveView& live, const SecretTargets& about, const std::set<std::string>& used,
             std::set<std::string>& labels, std::vector<std::string>& hosts) {
  std::set<HostId> meant;
  if (about.hosts != nullptr)
    for (const auto& target : *about.hosts) meant.insert(target.host);
  live.WithHosts([&](const std::vector<const Host*>& all, const auto&) {
    for (const Host* host : all) {
      if (host->state != HostState::kActive) continue;
      if (about.hosts != nullptr && !meant.contains(host->id)) continue;
      bool chose = false;
      for (const auto& name : host->own_labels)
        if (used.contains(name)) {
          labels.insert(name);
          chose = true;
        }
      if (chose) hosts.push_back(host->name);
    }
  });
}

// None of a channel that is not there or cannot be read: sending says so.
std::vector<std::string> SecretsOfChannel(Store& store, const std::string& name) {
  const auto kept = store.FindDocument("channel", name, 0);
  if (!kept || !*kept) return {};
  const auto read = ReadKept(**kept);
  const auto* document = read ? std::get_if<documents::ChannelDocument>(&read->body) : nullptr;
  if (document == nullptr) return {};
  const auto channel = documents::ChannelOf(*document);
  return channel ? SecretsOf(*channel) : std::vector<std::string>();
}

}  // namespace

std::vector<std::string> SecretWarnings(Store& store, const LiveView& live,
                                        const SecretTargets& about) {
  std::vector<std::string> warnings;
  const auto secrets = SecretsIn(about.plan);
  if (secrets.empty()) return warnings;
  const auto used = LabelsUsed(store, {about.targets, about.exclude});
  std::set<std::string> facts;
  for (const auto& name : used)
    if (name.starts_with(kFactPrefix)) facts.insert(name);
  if (!facts.empty())
    warnings.push_back(fmt::format(
        "it gives secrets ({}) to hosts chosen by {}, which each host reports of itself: a host "
        "decides whether it gets them; choose by names or by labels that the server gives",
        fmt::join(secrets, ", "), fmt::join(facts, ", ")));
  std::set<std::string> labels;
  std::vector<std::string> hosts;
  FindOwn(live, about, used, labels, hosts);
  if (!labels.empty())
    warnings.push_back(fmt::format(
        "it gives secrets ({}) to hosts chosen by the label {}, which {} chose at {}; set "
        "it with 'muster hosts label', or let hosts join with 'muster agents invite "
        "--no-own-labels'",
        fmt::join(secrets, ", "), fmt::join(labels, ", "), FoldHostNames(hosts, kMostWarnedNames),
        hosts.size() == 1 ? "its join" : "their joins"));
  return warnings;
}

Result<> CheckSecrets(Store& store, const RunSpec& plan, SecretHints hints) {
  std::vector<std::string> missing;
  PlanUses uses = UsesOf(plan);
  for (const auto& name : uses.channels)
    for (auto& secret : SecretsOfChannel(store, name)) uses.secrets.insert(std::move(secret));
  for (const auto& name : uses.secrets) {
    const auto secret = store.FindSecret(name);
    if (!secret) return Fail(secret.error());
    if (!secret->value) missing.push_back(name);
    if (missing.size() == kMostMissingNamed) break;
  }
  if (missing.empty()) return {};
  const std::string hint =
      hints == SecretHints::kNearest ? DidYouMeanSecret(store, missing.front()) : "";
  return Fail(ErrorCode::kNotFound, "there is no secret '{}'{}; set it: muster secrets set {}",
              fmt::join(missing, "', '"), hint, missing.front());
}

}  // namespace muster::server
