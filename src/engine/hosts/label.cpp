#include "engine/hosts/label.hpp"

#include "domain/host_ranges.hpp"

namespace muster::engine {
namespace {

std::string Describe(const LabelHosts& command, std::uint32_t changed) {
  std::string text;
  for (const auto& [key, value] : command.set) text += fmt::format("{}={} ", key, value);
  for (const auto& key : command.remove) text += fmt::format("{}- ", key);
  return text + "on " + HostsText(changed);
}

}  // namespace

void Decide(Turn& turn, const LabelHosts& command) {
  HostsLabelled answer;
  for (const HostId id : command.hosts) {
    const auto found = turn.state.hosts.entries.find(id);
    if (found == turn.state.hosts.entries.end()) continue;
    ++answer.hosts;
    HostEntry& entry = found->second;
    Labels labels = entry.host.labels;
    for (const auto& key : command.remove) labels.erase(key);
    for (const auto& [key, value] : command.set) labels[key] = value;
    const auto own = entry.host.own_labels;
    for (const auto& key : command.remove) TakeOver(entry.host, key);
    for (const auto& [key, value] : command.set) TakeOver(entry.host, key);
    if (labels == entry.host.labels && own == entry.host.own_labels) continue;
    if (labels != entry.host.labels) ++answer.changed;
    entry.host.labels = std::move(labels);
    turn.Put(PutHost{entry.host});
    turn.Tell(HostNews{entry.host, entry.Online(), entry.address});
  }
  turn.Audit(command.caller, "host.label", command.targets, Describe(command, answer.changed),
             command.hosts);
  turn.Answer(command, answer);
}

}  // namespace muster::engine
