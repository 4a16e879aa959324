#include "adapters/postgres/rows.hpp"

#include <algorithm>
#include <limits>

#include "adapters/records/records.hpp"

namespace muster::postgres {
namespace {

// Of rows that begin with run, visit, ordinal, host, attempt.
TaskKey TaskKeyOf(const Row& row) {
  return {.run = RunId(row.Id(0)),
          .visit = Visit(static_cast<std::uint32_t>(row.Int(1))),
          .ordinal = static_cast<std::uint32_t>(row.Int(2)),
          .host = HostId(row.Id(3)),
          .attempt = Attempt(static_cast<std::uint32_t>(row.Int(4)))};
}

}  // namespace

Result<TaskRecord> TaskOf(const Row& row, int first) {
  const std::int64_t state = row.Int(first + 5);
  const std::int64_t log_state = row.Int(first + 14);
  if (state < 0 || state >= static_cast<std::int64_t>(kTaskStates) || log_state < 0 ||
      log_state > static_cast<std::int64_t>(LogState::kExpired))
    return Fail(ErrorCode::kInternal, "record: a task in state {} with log state {}", state,
                log_state);
  TaskRecord task;
  task.key = {.run = RunId(row.Id(first)),
              .visit = Visit(static_cast<std::uint32_t>(row.Int(first + 1))),
              .ordinal = static_cast<std::uint32_t>(row.Int(first + 2)),
              .host = HostId(row.Id(first + 4)),
              .attempt = Attempt(static_cast<std::uint32_t>(row.Int(first + 3)))};
  task.state = static_cast<TaskState>(state);
  task.sent = {row.Int(first + 6)};
  task.sent_commit = CommitNumber(row.Id(first + 7));
  task.sent_term = Term(row.Id(first + 8));
  task.ended = {row.Int(first + 9)};
  task.ended_commit = CommitNumber(row.Id(first + 10));
  task.ended_term = Term(row.Id(first + 11));
  task.store = row.Text(first + 12);
  task.boot = row.Text(first + 13);
  task.log.state = static_cast<LogState>(log_state);
  task.log.bytes = row.Id(first + 15);
  if (auto rest = records::DecodeTaskRest(row.Bytes(first + 16), &task); !rest)
    return Fail(rest.error());
  return task;
}

Result<OpenWish> WishOf(const Row& row) {
  auto wish = records::DecodeWish(row.Bytes(5));
  if (!wish) return Fail(wish.error());
  return OpenWish{.task = TaskKeyOf(row), .wish = std::move(*wish)};
}

Result<KeyHold> HoldOf(const Row& row) {
  return KeyHold{.key = row.Text(5), .task = TaskKeyOf(row)};
}

Result<Token> TokenOf(const Row& row) {
  const std::int64_t role = row.Int(2);
  if (role < 0 || role > static_cast<std::int64_t>(Role::kAdmin))
    return Fail(ErrorCode::kInternal, "record: token '{}' has the unknown role {}", row.Text(0),
                role);
  return Token{.name = row.Text(0),
               .hash = row.Text(1),
               .role = static_cast<Role>(role),
               .created_by = row.Text(3),
               .created = {row.Int(4)},
               .expires = {row.Int(5)},
               .revoked_by = row.Text(6),
               .revoked = {row.Int(7)}};
}

std::int64_t LimitOf(std::size_t limit) {
  return static_cast<std::int64_t>(
      std::min<std::size_t>(limit, std::numeric_limits<std::int64_t>::max()));
}

std::int64_t BeforeOf(std::uint64_t before) {
  return before == 0 ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(before);
}

}  // namespace muster::postgres
