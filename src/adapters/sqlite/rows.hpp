#pragma once

#include <fmt/format.h>

#include "adapters/records/query.hpp"
#include "adapters/sqlite/database.hpp"

// Rows of answers, and what a database is to the reads of both stores.
namespace muster::sqlite {

class Row final : public records::Row {
 public:
  explicit Row(const Statement& statement) : statement_(statement) {}
  std::int64_t Int(int column) const override { return statement_.ColumnInt(column); }
  std::string_view Bytes(int column) const override { return statement_.ColumnBytes(column); }
  bool IsNull(int column) const override { return statement_.ColumnIsNull(column); }

 private:
  const Statement& statement_;
};

// Calls `take` with each row, then resets the statement, whatever happened.
template <typename Take>
Result<> EachRow(Statement& statement, Take take) {
  while (true) {
    auto row = statement.Step();
    Result<> taken;
    if (!row)
      taken = Fail(row.error());
    else if (*row)
      taken = take(Row(statement));
    if (taken && *row) continue;
    statement.Reset();
    return taken;
  }
}

// All questions of one object are about one moment when its database is inside a transaction.
class Queries final : public records::Queries {
 public:
  explicit Queries(Database& database) : database_(database) {}

  Result<> Each(std::string_view sql, const records::Values& values, const Take& take) override {
    auto statement = database_.Prepare(sql);
    if (!statement) return Fail(statement.error());
    for (const auto& value : values.All()) {
      if (const auto* number = std::get_if<std::int64_t>(&value))
        (*statement)->Int(*number);
      else
        (*statement)->Text(std::get<records::Values::Text>(value).text);
    }
    return EachRow(**statement, take);
  }
  std::string IndexedBy(std::string_view index) const override {
    return fmt::format(" INDEXED BY {}", index);
  }
  std::string Bound(std::string_view column, std::string_view second,
                    std::string_view sign) const override {
    return fmt::format("{} = ? AND {} {} ?", column, second, sign);
  }

 private:
  Database& database_;
};

}  // namespace muster::sqlite
