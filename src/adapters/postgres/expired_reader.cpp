#include "adapters/postgres/expired_reader.hpp"

#include <limits>

#include "adapters/postgres/rows.hpp"
#include "adapters/records/records.hpp"

namespace muster::postgres {
namespace {

constexpr std::int64_t kRunsAtOnce = 500;

// Walks the index from the oldest run. Open runs and those that ended lately are passed over; there
// are few so old.
Result<> ReadRuns(Connection& connection, WallTime before, std::size_t most, Expired& expired) {
  std::int64_t created = std::numeric_limits<std::int64_t>::min();
  std::int64_t id = 0;
  // No more than one slice drops.
  for (std::size_t dropped = 0; dropped < most && expired.runs.size() < most;) {
    auto rows = connection.Ask(
        "SELECT created, id, record FROM run WHERE (created, id) > (?, ?) AND created < ?"
        " AND state + 0 >= 4 ORDER BY created, id LIMIT ?",
        Params().Int(created).Int(id).Int(before.ms).Int(kRunsAtOnce));
    if (!rows) return Fail(rows.error());
    for (int i = 0; i < rows->Count() && dropped < most && expired.runs.size() < most; ++i) {
      const Row row = rows->At(i);
      created = row.Int(0);
      id = row.Int(1);
      auto run = records::DecodeRun(row.Bytes(2));
      if (!run) return Fail(run.error());
      if (run->ended >= before) continue;
      expired.runs.push_back({run->id, run->hosts});
      dropped += run->hosts + std::size_t{1};
    }
    if (rows->Count() < kRunsAtOnce) return {};
  }
  return {};
}

// The trail is in order of time but for a clock set back, so its old front ends at the first entry
// that is not old.
Result<> ReadAudit(Connection& connection, WallTime before, std::size_t most, Expired& expired) {
  auto rows = connection.Ask("SELECT number, at FROM audit ORDER BY number LIMIT ?",
                             Params().Int(LimitOf(most)));
  if (!rows) return Fail(rows.error());
  for (int i = 0; i < rows->Count() && rows->At(i).Int(1) < before.ms; ++i)
    expired.audit_below = rows->At(i).Id(0) + 1;
  return {};
}

Result<> ReadInvites(Connection& connection, WallTime before, std::size_t most, Expired& expired) {
  auto rows =
      connection.Ask("SELECT id, record FROM invite WHERE uses_left = 0 ORDER BY id LIMIT ?",
                     Params().Int(LimitOf(most)));
  if (!rows) return Fail(rows.error());
  for (int i = 0; i < rows->Count(); ++i) {
    auto invite = records::DecodeInvite(rows->At(i).Bytes(1));
    if (!invite) return Fail(invite.error());
    if (invite->expires < before) expired.invites.push_back(rows->At(i).Text(0));
  }
  return {};
}

Result<> ReadSlots(Connection& connection, WallTime before, std::size_t most, Expired& expired) {
  auto rows = connection.Ask(
      "SELECT trigger_name, first, act, last FROM slot WHERE made < ? ORDER BY made LIMIT ?",
      Params().Int(before.ms).Int(LimitOf(most)));
  if (!rows) return Fail(rows.error());
  for (int i = 0; i < rows->Count(); ++i) {
    const Row row = rows->At(i);
    if (row.Int(3) < before.ms) expired.slots.push_back({row.Text(0), {row.Int(1)}, row.Id(2)});
  }
  return {};
}

}  // namespace

Result<Expired> ReadExpired(Connection& connection, const Cutoffs& cutoffs, std::size_t most) {
  Expired expired;
  Result<> read;
  if (cutoffs.runs) read = ReadRuns(connection, cutoffs.runs, most, expired);
  if (read && cutoffs.audit) read = ReadAudit(connection, cutoffs.audit, most, expired);
  if (read && cutoffs.invites) read = ReadInvites(connection, cutoffs.invites, most, expired);
  if (read && cutoffs.slots) read = ReadSlots(connection, cutoffs.slots, most, expired);
  if (!read) return Fail(read.error());
  return expired;
}

}  // namespace muster::postgres
