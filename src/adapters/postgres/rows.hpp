#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/postgres/connection.hpp"
#include "domain/records.hpp"
#include "ports/store.hpp"

// How rows become records, and the loops around it.
namespace muster::postgres {

// Task columns in the order TaskOf reads them; the table is `t`, its node `n`.
constexpr std::string_view kTaskColumns =
    " t.run, t.visit, t.ordinal, t.attempt, t.host, t.state, t.sent, t.sent_commit, t.sent_term,"
    " t.ended, t.ended_commit, t.ended_term, n.store, n.boot, t.log_state, t.log_bytes, t.rest";
constexpr int kTaskColumnCount = 17;

Result<TaskRecord> TaskOf(const Row& row, int first = 0);
Result<OpenWish> WishOf(const Row& row);
Result<KeyHold> HoldOf(const Row& row);
Result<Token> TokenOf(const Row& row);

std::int64_t LimitOf(std::size_t limit);
// A keyset bound: 0 is none.
std::int64_t BeforeOf(std::uint64_t before);

template <typename T, typename Decode>
Result<std::vector<T>> ReadAll(Connection& connection, std::string_view sql, const Params& params,
                               Decode decode) {
  auto rows = connection.Ask(sql, params);
  if (!rows) return Fail(rows.error());
  std::vector<T> all;
  all.reserve(static_cast<std::size_t>(rows->Count()));
  for (int i = 0; i < rows->Count(); ++i) {
    auto one = decode(rows->At(i));
    if (!one) return Fail(one.error());
    all.push_back(std::move(*one));
  }
  return all;
}

template <typename T, typename Decode>
Result<std::optional<T>> ReadOne(Connection& connection, std::string_view sql, const Params& params,
                                 Decode decode) {
  auto all = ReadAll<T>(connection, sql, params, decode);
  if (!all) return Fail(all.error());
  if (all->empty()) return std::optional<T>();
  return std::optional<T>(std::move(all->front()));
}

// For statements that join what they look for to the fence row, so that both are of one moment: the
// first column is the commit's number, the second null when nothing was found.
template <typename T, typename Decode>
Result<ReadAt<std::optional<T>>> ReadOneAt(Connection& connection, std::string_view sql,
                                           const Params& params, Decode decode) {
  auto rows = connection.Ask(sql, params);
  if (!rows) return Fail(rows.error());
  if (rows->Count() == 0) return Fail(ErrorCode::kInternal, "the fence row is missing");
  const Row row = rows->At(0);
  ReadAt<std::optional<T>> found{.value = {}, .commit = CommitNumber(row.Id(0))};
  if (row.IsNull(1)) return found;
  Result<T> value = decode(row);
  if (!value) return Fail(value.error());
  found.value = std::move(*value);
  return found;
}

}  // namespace muster::postgres
