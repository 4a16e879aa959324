#include "domain/audit_filter.hpp"

#include <algorithm>

#include <fmt/ranges.h>

namespace muster {
namespace {

// tests/integration/test_docs.py compares them with the engine's.
constexpr std::string_view kActs[] = {
    "agent.certificate", "agent.copy",     "agent.invite",   "agent.join",       "agent.readmit",
    "agent.reject",      "agent.rejoin",   "agent.replace",  "agent.revoke",     "agent.wait",
    "channel.apply",     "channel.delete", "channel.test",   "freeze",           "group.apply",
    "group.delete",      "host.apply",     "host.delete",    "host.label",       "host.maintenance",
    "host.remove",       "invite.revoke",  "job.apply",      "job.delete",       "notice.fail",
    "run.approve",       "run.pause",      "run.reject",     "run.resume",       "run.retry",
    "run.set",           "run.skip",       "run.start",      "run.stop",         "secret.remove",
    "secret.set",        "server.drain",   "server.invite",  "server.join",      "server.keys",
    "server.undrain",    "store.finalize", "store.restore",  "task.unknown",     "thaw",
    "token.create",      "token.revoke",   "trigger.apply",  "trigger.backfill", "trigger.delete",
    "trigger.fire",      "trigger.pause",  "trigger.resume", "trigger.skip"};
static_assert(std::ranges::is_sorted(kActs));

}  // namespace

bool Matches(const AuditEntry& entry, const AuditFilter& filter) {
  return (filter.by.empty() || entry.actor == filter.by) &&
         (filter.act.empty() || entry.act == filter.act) &&
         (!filter.run || entry.run == filter.run) && (!filter.since || entry.at >= filter.since) &&
         (!filter.until || entry.at < filter.until);
}

std::span<const std::string_view> AuditActs() noexcept { return kActs; }

Result<> CheckAct(std::string_view act) {
  if (std::ranges::binary_search(kActs, act)) return {};
  return Fail(ErrorCode::kInvalid, "there is no act '{}'; expected one of {}", act,
              fmt::join(kActs, ", "));
}

}  // namespace muster
