#include "engine/hosts/maintenance.hpp"

#include "domain/host_ranges.hpp"
#include "domain/left_out_text.hpp"
#include "engine/runs/audit_hosts.hpp"

namespace muster::engine {
namespace {

std::string Describe(const MaintainHosts& command, std::uint32_t changed) {
  if (!command.maintenance) return "ended on " + HostsText(changed);
  const WallTime until = command.maintenance->until;
  return fmt::format("begun on {}{}", HostsText(changed),
                     until ? ", until " + FormatTime(until) : "");
}

const HostEntry* Maintained(const Turn& turn, HostId id) {
  const auto found = turn.state.hosts.entries.find(id);
  if (found == turn.state.hosts.entries.end() || !found->second.host.InMaintenance(turn.now.wall))
    return nullptr;
  return &found->second;
}

}  // namespace

void Decide(Turn& turn, const MaintainHosts& command) {
  std::optional<Maintenance> maintenance = command.maintenance;
  if (maintenance) {
    maintenance->by = command.caller.name;
    maintenance->at = turn.now.wall;
  }
  HostsLabelled answer;
  Targets changed;
  for (const HostId id : command.hosts) {
    const auto found = turn.state.hosts.entries.find(id);
    if (found == turn.state.hosts.entries.end()) continue;
    ++answer.hosts;
    HostEntry& entry = found->second;
    if (entry.host.maintenance == maintenance) continue;
    ++answer.changed;
    changed.push_back({id, entry.host.name});
    entry.host.maintenance = maintenance;
    turn.Put(PutHost{entry.host});
    turn.Tell(HostNews{entry.host, entry.Online(), entry.address});
  }
  AuditEntry entry;
  entry.act = "host.maintenance";
  entry.object = command.targets;
  entry.detail = Describe(command, answer.changed);
  if (maintenance) entry.reason = maintenance->reason;
  auto about = PutHosts(entry, changed, Ordinals::All(answer.changed));
  turn.Audit(command.caller, std::move(entry), std::move(about));
  turn.Answer(command, answer);
}

void Available::AddLeftOut(const std::string& others) {
  if (others.empty()) return;
  left_out = left_out.empty() ? others : left_out + "; " + others;
}

Available LeaveOutMaintained(const Turn& turn, std::shared_ptr<const Targets> targets) {
  auto left = std::make_shared<Targets>();
  std::vector<std::string> out;
  const HostEntry* first = nullptr;
  for (const auto& target : *targets) {
    const HostEntry* entry = Maintained(turn, target.host);
    if (entry == nullptr) {
      left->push_back(target);
      continue;
    }
    if (first == nullptr) first = entry;
    out.push_back(target.name);
  }
  if (out.empty()) return {.targets = std::move(targets), .left_out = ""};
  return {.targets = std::move(left), .left_out = MaintainedText(out, *first->host.maintenance)};
}

}  // namespace muster::engine
