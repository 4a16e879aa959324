#include <limits>

#include <fmt/format.h>

#include "adapters/records/readers.hpp"
#include "adapters/records/records.hpp"
#include "adapters/records/row_values.hpp"

// What retention may drop.
namespace muster::records {
namespace {

constexpr std::int64_t kRunsAtOnce = 500;

// Walks the index from the oldest run. Open runs and those that ended lately are passed over; there
// are few so old. A condition that is not meant for an index adds 0.
Result<> FindRuns(Queries& queries, WallTime before, std::size_t most, Expired& expired) {
  const std::string sql = fmt::format(
      "SELECT created, id, record FROM run WHERE (created, id) > (?, ?) AND created < ?"
      " AND state + 0 >= {} ORDER BY created, id LIMIT ?",
      kFirstFinalRun);
  std::int64_t created = std::numeric_limits<std::int64_t>::min();
  std::int64_t id = 0;
  // No more than one slice drops.
  for (std::size_t dropped = 0; dropped < most && expired.runs.size() < most;) {
    std::int64_t rows = 0;
    auto read = queries.Each(sql, Values().Int(created).Int(id).Int(before.ms).Int(kRunsAtOnce),
                             [&](const Row& row) -> Result<> {
                               ++rows;
                               if (dropped >= most || expired.runs.size() >= most) return {};
                               created = row.Int(0);
                               id = row.Int(1);
                               auto run = Decode<Run>(row.Bytes(2));
                               if (!run) return Fail(run.error());
                               if (run->ended >= before) return {};
                               expired.runs.push_back({run->id, run->hosts});
                               dropped += run->hosts + std::size_t{1};
                               return {};
                             });
    if (!read) return read;
    if (rows < kRunsAtOnce) return {};
  }
  return {};
}

// The trail is in order of time but for a clock set back, so its old front ends at the first entry
// that is not old.
Result<> FindAudit(Queries& queries, WallTime before, std::size_t most, Expired& expired) {
  bool front = true;
  return queries.Each("SELECT number, at FROM audit ORDER BY number LIMIT ?",
                      Values().Int(LimitOf(most)), [&](const Row& row) -> Result<> {
                        front = front && row.Int(1) < before.ms;
                        if (front) expired.audit_below = row.Id(0) + 1;
                        return {};
                      });
}

Result<> FindInvites(Queries& queries, WallTime before, std::size_t most, Expired& expired) {
  return queries.Each("SELECT id, record FROM invite WHERE uses_left = 0 ORDER BY id LIMIT ?",
                      Values().Int(LimitOf(most)), [&](const Row& row) -> Result<> {
                        auto invite = Decode<Invite>(row.Bytes(1));
                        if (!invite) return Fail(invite.error());
                        if (invite->expires < before) expired.invites.push_back(row.Text(0));
                        return {};
                      });
}

Result<> FindSlots(Queries& queries, WallTime before, std::size_t most, Expired& expired) {
  return queries.Each(
      "SELECT trigger_name, first, act, last FROM slot WHERE made < ? ORDER BY made LIMIT ?",
      Values().Int(before.ms).Int(LimitOf(most)), [&](const Row& row) -> Result<> {
        if (row.Int(3) < before.ms) expired.slots.push_back({row.Text(0), {row.Int(1)}, row.Id(2)});
        return {};
      });
}

}  // namespace

Result<Expired> FindExpired(Queries& queries, const Cutoffs& cutoffs, std::size_t most) {
  Expired expired;
  Result<> read;
  if (cutoffs.runs) read = FindRuns(queries, cutoffs.runs, most, expired);
  if (read && cutoffs.audit) read = FindAudit(queries, cutoffs.audit, most, expired);
  if (read && cutoffs.invites) read = FindInvites(queries, cutoffs.invites, most, expired);
  if (read && cutoffs.slots) read = FindSlots(queries, cutoffs.slots, most, expired);
  if (!read) return Fail(read.error());
  return expired;
}

}  // namespace muster::records
