#include "adapters/sqlite/expired_reader.hpp"

#include "adapters/records/records.hpp"
#include "adapters/sqlite/rows.hpp"

namespace muster::sqlite {
namespace {

// Walks the index from the oldest run. Open runs and those that ended lately are passed over; there
// are few so old.
Result<> ReadRuns(Database& database, WallTime before, std::size_t most, Expired& expired) {
  auto statement = database.Prepare(
      "SELECT record FROM run INDEXED BY run_created WHERE created < ? AND state >= 4"
      " ORDER BY created");
  if (!statement) return Fail(statement.error());
  (*statement)->Int(before.ms);
  Result<> read;
  // No more than one slice drops.
  for (std::size_t rows = 0; expired.runs.size() < most && rows < most;) {
    auto row = (*statement)->Step();
    if (!row) read = Fail(row.error());
    if (!row || !*row) break;
    auto run = records::DecodeRun((*statement)->ColumnBytes(0));
    if (!run) read = Fail(run.error());
    if (!run) break;
    if (run->ended >= before) continue;
    expired.runs.push_back({run->id, run->hosts});
    rows += run->hosts + std::size_t{1};
  }
  (*statement)->Reset();
  return read;
}

// The trail is in order of time but for a clock set back, so its old front ends at the first entry
// that is not old.
Result<> ReadAudit(Database& database, WallTime before, std::size_t most, Expired& expired) {
  auto statement = database.Prepare("SELECT number, at FROM audit ORDER BY number LIMIT ?");
  if (!statement) return Fail(statement.error());
  (*statement)->Int(LimitOf(most));
  bool front = true;
  return EachRow(**statement, [&](const Statement& row) -> Result<> {
    front = front && row.ColumnInt(1) < before.ms;
    if (front) expired.audit_below = row.ColumnId(0) + 1;
    return {};
  });
}

Result<> ReadInvites(Database& database, WallTime before, std::size_t most, Expired& expired) {
  auto statement = database.Prepare(
      "SELECT id, record FROM invite INDEXED BY invite_used WHERE uses_left = 0 LIMIT ?");
  if (!statement) return Fail(statement.error());
  (*statement)->Int(LimitOf(most));
  return EachRow(**statement, [&](const Statement& row) -> Result<> {
    auto invite = records::DecodeInvite(row.ColumnBytes(1));
    if (!invite) return Fail(invite.error());
    if (invite->expires < before) expired.invites.push_back(row.ColumnText(0));
    return {};
  });
}

Result<> ReadSlots(Database& database, WallTime before, std::size_t most, Expired& expired) {
  auto statement = database.Prepare(
      "SELECT trigger_name, first, act, last FROM slot INDEXED BY slot_made WHERE made < ?"
      " ORDER BY made LIMIT ?");
  if (!statement) return Fail(statement.error());
  (*statement)->Int(before.ms).Int(LimitOf(most));
  return EachRow(**statement, [&](const Statement& row) -> Result<> {
    if (row.ColumnInt(3) < before.ms)
      expired.slots.push_back({row.ColumnText(0), {row.ColumnInt(1)}, row.ColumnId(2)});
    return {};
  });
}

}  // namespace

Result<Expired> ReadExpired(Database& database, const Cutoffs& cutoffs, std::size_t most) {
  Expired expired;
  Result<> read;
  if (cutoffs.runs) read = ReadRuns(database, cutoffs.runs, most, expired);
  if (read && cutoffs.audit) read = ReadAudit(database, cutoffs.audit, most, expired);
  if (read && cutoffs.invites) read = ReadInvites(database, cutoffs.invites, most, expired);
  if (read && cutoffs.slots) read = ReadSlots(database, cutoffs.slots, most, expired);
  if (!read) return Fail(read.error());
  return expired;
}

}  // namespace muster::sqlite
