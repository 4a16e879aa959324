#pragma once

#include <cstdint>
#include <map>

#include "adapters/records/table.hpp"
#include "base/result.hpp"
#include "domain/records.hpp"

// What changes do to tables.
namespace muster::records {

// Takes what a batch does, in its order.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual Result<> Put(TableId table, Cells row) = 0;   // the whole row, as it is from now on
  virtual Result<> Drop(TableId table, Cells key) = 0;  // the row with this key, if there is one
  // Written most often: each dialect has its own way.
  virtual Result<> PutTask(const TaskRecord& task) = 0;
  // Ranges, which must find what came before them in the batch.
  virtual Result<> DropRun(const DropRun& drop) = 0;
  virtual Result<> DropAudit(std::uint64_t below) = 0;
};

// kInternal for a record that is too large to be read back.
Result<> WriteRows(const Change& change, RowSink& to);

// Numbers that a batch uses, so that they are never given again. Zero is none.
struct Used {
  std::map<std::uint64_t, std::uint64_t> runs;  // highest by id space
  std::uint64_t host = 0;                       // highest
  AuditHead audit;                              // the last entry
  WallTime key_created;                         // of the latest idempotency key

  void Add(const Change& change);
};

// An idempotency key is dropped when a key that much younger is made.
inline constexpr Duration kKeysKept = std::chrono::hours(7 * 24);

// The row of `meta` that counts the triggers in a state.
std::string TriggerCounter(TriggerState state);
// States that are counted: those a trigger's row can be in.
inline constexpr TriggerState kCountedStates[] = {TriggerState::kRunnable, TriggerState::kPaused,
                                                  TriggerState::kComplete, TriggerState::kError};

}  // namespace muster::records
