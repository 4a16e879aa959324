#include "adapters/sqlite/rows.hpp"

#include <algorithm>
#include <limits>

#include "adapters/records/records.hpp"

namespace muster::sqlite {
namespace {

// Of rows that begin with run, visit, ordinal, host, attempt.
TaskKey TaskKeyOf(const Statement& row) {
  return {.run = RunId(row.ColumnId(0)),
          .visit = Visit(static_cast<std::uint32_t>(row.ColumnInt(1))),
          .ordinal = static_cast<std::uint32_t>(row.ColumnInt(2)),
          .host = HostId(row.ColumnId(3)),
          .attempt = Attempt(static_cast<std::uint32_t>(row.ColumnInt(4)))};
}

}  // namespace

Result<TaskRecord> TaskOf(const Statement& row) {
  const std::int64_t state = row.ColumnInt(5);
  const std::int64_t log_state = row.ColumnInt(14);
  if (state < 0 || state >= static_cast<std::int64_t>(kTaskStates) || log_state < 0 ||
      log_state > static_cast<std::int64_t>(LogState::kExpired))
    return Fail(ErrorCode::kInternal, "record: a task in state {} with log state {}", state,
                log_state);
  TaskRecord task;
  task.key = {.run = RunId(row.ColumnId(0)),
              .visit = Visit(static_cast<std::uint32_t>(row.ColumnInt(1))),
              .ordinal = static_cast<std::uint32_t>(row.ColumnInt(2)),
              .host = HostId(row.ColumnId(4)),
              .attempt = Attempt(static_cast<std::uint32_t>(row.ColumnInt(3)))};
  task.state = static_cast<TaskState>(state);
  task.sent = {row.ColumnInt(6)};
  task.sent_commit = CommitNumber(row.ColumnId(7));
  task.sent_term = Term(row.ColumnId(8));
  task.ended = {row.ColumnInt(9)};
  task.ended_commit = CommitNumber(row.ColumnId(10));
  task.ended_term = Term(row.ColumnId(11));
  task.store = row.ColumnText(12);
  task.boot = row.ColumnText(13);
  task.log.state = static_cast<LogState>(log_state);
  task.log.bytes = row.ColumnId(15);
  if (auto rest = records::DecodeTaskRest(row.ColumnBytes(16), &task); !rest)
    return Fail(rest.error());
  return task;
}

Result<OpenWish> WishOf(const Statement& row) {
  auto wish = records::DecodeWish(row.ColumnBytes(5));
  if (!wish) return Fail(wish.error());
  return OpenWish{.task = TaskKeyOf(row), .wish = std::move(*wish)};
}

Result<KeyHold> HoldOf(const Statement& row) {
  return KeyHold{.key = row.ColumnText(5), .task = TaskKeyOf(row)};
}

Result<IdempotencyKey> KeyOf(const Statement& row) {
  return IdempotencyKey{.caller = row.ColumnText(0),
                        .key = row.ColumnText(1),
                        .body_sha256 = row.ColumnText(2),
                        .run = RunId(row.ColumnId(3)),
                        .created = {row.ColumnInt(4)}};
}

Result<Token> TokenOf(const Statement& row) {
  const std::int64_t role = row.ColumnInt(2);
  if (role < 0 || role > static_cast<std::int64_t>(Role::kAdmin))
    return Fail(ErrorCode::kInternal, "record: token '{}' has the unknown role {}",
                row.ColumnText(0), role);
  return Token{.name = row.ColumnText(0),
               .hash = row.ColumnText(1),
               .role = static_cast<Role>(role),
               .created_by = row.ColumnText(3),
               .created = {row.ColumnInt(4)},
               .expires = {row.ColumnInt(5)},
               .revoked_by = row.ColumnText(6),
               .revoked = {row.ColumnInt(7)}};
}

std::int64_t LimitOf(std::size_t limit) {
  return static_cast<std::int64_t>(
      std::min<std::size_t>(limit, std::numeric_limits<std::int64_t>::max()));
}

std::int64_t BeforeOf(std::uint64_t before) {
  return before == 0 ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(before);
}

}  // namespace muster::sqlite
