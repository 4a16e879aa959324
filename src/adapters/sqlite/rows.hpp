#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/sqlite/database.hpp"
#include "domain/records.hpp"

// How rows become records, and the loops around it.
namespace muster::sqlite {

// Task columns in the order TaskOf reads them. The caller goes on with the join of `node` (needed)
// and the condition; the table is `t`.
constexpr std::string_view kSelectTask =
    "SELECT t.run, t.visit, t.ordinal, t.attempt, t.host, t.state, t.sent, t.sent_commit,"
    " t.sent_term, t.ended, t.ended_commit, t.ended_term, node.store, node.boot, t.log_state,"
    " t.log_bytes, t.rest FROM task t";

Result<TaskRecord> TaskOf(const Statement& row);
Result<OpenWish> WishOf(const Statement& row);
Result<KeyHold> HoldOf(const Statement& row);
Result<IdempotencyKey> KeyOf(const Statement& row);
Result<Token> TokenOf(const Statement& row);

std::int64_t LimitOf(std::size_t limit);
// A keyset bound: 0 is none.
std::int64_t BeforeOf(std::uint64_t before);

// Calls `take` with each row, then resets the statement, whatever happened.
template <typename Take>
Result<> EachRow(Statement& statement, Take take) {
  while (true) {
    auto row = statement.Step();
    Result<> taken;
    if (!row)
      taken = Fail(row.error());
    else if (*row)
      taken = take(std::as_const(statement));
    if (taken && *row) continue;
    statement.Reset();
    return taken;
  }
}

template <typename T, typename Decode, typename Bind>
Result<std::vector<T>> ReadAll(Database& database, std::string_view sql, Decode decode, Bind bind) {
  auto statement = database.Prepare(sql);
  if (!statement) return Fail(statement.error());
  bind(**statement);
  std::vector<T> all;
  auto ended = EachRow(**statement, [&](const Statement& row) -> Result<> {
    auto one = decode(row);
    if (!one) return Fail(one.error());
    all.push_back(std::move(*one));
    return {};
  });
  if (!ended) return Fail(ended.error());
  return all;
}

template <typename T, typename Decode>
Result<std::vector<T>> ReadAll(Database& database, std::string_view sql, Decode decode) {
  return ReadAll<T>(database, sql, decode, [](Statement&) {});
}

template <typename T, typename Bind, typename Decode>
Result<std::optional<T>> ReadOne(Database& database, std::string_view sql, Bind bind,
                                 Decode decode) {
  auto all = ReadAll<T>(database, sql, decode, bind);
  if (!all) return Fail(all.error());
  if (all->empty()) return std::optional<T>();
  return std::optional<T>(std::move(all->front()));
}

}  // namespace muster::sqlite
