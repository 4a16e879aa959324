#include "adapters/copy/old_rows.hpp"

#include "adapters/records/records.hpp"
#include "adapters/sqlite/old_runs.hpp"
#include "adapters/sqlite/rows.hpp"

namespace muster::copy {
namespace {

using sqlite::Statement;

Result<> PutRun(const Statement& row, const Run& run, TupleWriter& to) {
  const auto record = records::EncodeRun(run);
  if (!record) return Fail(record.error());
  to.Row(5);
  to.Int(row.ColumnInt(0));
  to.Int(row.ColumnInt(1));
  to.Bytes(row.ColumnBytes(2));
  to.Int(row.ColumnInt(3));
  to.Bytes(*record);
  return {};
}

Result<> PutPlan(const Run& run, TupleWriter& to) {
  const auto record = records::EncodePlan(run.spec);
  if (!record) return Fail(record.error());
  to.Row(2);
  to.Int(static_cast<std::int64_t>(run.id.value));
  to.Bytes(*record);
  return {};
}

Result<> PutVisit(const Run& run, const StageVisit& visit, TupleWriter& to) {
  const auto record = records::EncodeVisit(visit);
  if (!record) return Fail(record.error());
  to.Row(3);
  to.Int(static_cast<std::int64_t>(run.id.value));
  to.Int(visit.visit.value);
  to.Bytes(*record);
  return {};
}

// False: there is no such row.
Result<bool> PutOldRow(sqlite::Database& from, const CopyTable& table, const Statement& row,
                       TupleWriter& to) {
  const auto run = records::DecodeRun(row.ColumnBytes(4));
  if (!run) return Fail(run.error());
  Result<> put;
  if (table.sqlite == "run") put = PutRun(row, *run, to);
  if (table.sqlite == "plan") put = PutPlan(*run, to);
  if (!put) return Fail(put.error());
  if (table.sqlite != "visit") return true;
  const auto visit = sqlite::OldVisitOf(from, *run);
  if (!visit) return Fail(visit.error());
  if (*visit) put = PutVisit(*run, **visit, to);
  if (!put) return Fail(put.error());
  return visit->has_value();
}

}  // namespace

Result<> PutOldRows(sqlite::Database& from, const CopyTable& table, TupleWriter& to,
                    const std::function<Result<>()>& sent) {
  if (table.sqlite != "run" && table.sqlite != "plan" && table.sqlite != "visit") return {};
  auto rows =
      from.Prepare("SELECT id, state, by, created, record FROM run WHERE whole = 1 ORDER BY id");
  if (!rows) return Fail(rows.error());
  return sqlite::EachRow(**rows, [&](const Statement& row) -> Result<> {
    const auto put = PutOldRow(from, table, row, to);
    if (!put) return Fail(put.error());
    return *put ? sent() : Result<>();
  });
}

}  // namespace muster::copy
