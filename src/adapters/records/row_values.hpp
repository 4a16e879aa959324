#pragma once

#include <string_view>

#include "adapters/records/query.hpp"
#include "ports/store.hpp"

// How rows become records; `first` is the column that a record begins with.
namespace muster::records {

// A task attempt's columns in the order TaskOf reads them: of the task `t` and of its node `n`,
// which kTaskNode joins.
inline constexpr std::string_view kTaskColumns =
    "t.run, t.visit, t.ordinal, t.attempt, t.host, t.state, t.sent, t.sent_commit, t.sent_term,"
    " t.ended, t.ended_commit, t.ended_term, n.store, n.boot, t.log_state, t.log_bytes, t.rest";
inline constexpr std::string_view kTaskNode = " LEFT JOIN node n ON n.id = t.node";
Result<TaskRecord> TaskOf(const Row& row, int first = 0);

inline constexpr std::string_view kAuditColumns =
    "number, at, actor, address, client, act, object, detail, reason, run, hosts, names, command,"
    " command_sha256, previous, hash";
inline constexpr int kAuditColumnCount = 16;
Result<AuditEntry> AuditOf(const Row& row);

// The run in column `first`, with the plan in the next one if there is one.
Result<Run> RunWithPlan(const Row& row, int first);

// A row whose one column is the blob of a record.
template <typename T>
Result<T> RecordOf(const Row& row);

// What is listed or not is found by number in SQL.
inline constexpr int kFirstFinalTask = static_cast<int>(TaskState::kSucceeded);
inline constexpr int kFirstFinalRun = static_cast<int>(RunState::kSucceeded);
inline constexpr int kOpenLog = static_cast<int>(LogState::kOpen);

}  // namespace muster::records
