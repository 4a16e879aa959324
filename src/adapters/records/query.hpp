#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "domain/ids.hpp"

// Reads that both stores make with the same SQL (readers.hpp), over what each of them is.
namespace muster::records {

// A row of an answer; valid until the next one.
class Row {
 public:
  virtual ~Row() = default;
  virtual std::int64_t Int(int column) const = 0;
  virtual std::string_view Bytes(int column) const = 0;
  virtual bool IsNull(int column) const = 0;

  std::uint64_t Id(int column) const { return static_cast<std::uint64_t>(Int(column)); }
  std::string Text(int column) const { return std::string(Bytes(column)); }
};

// The parameters of a statement, in their order. Texts live until it was carried out.
class Values {
 public:
  struct Text {
    std::string_view text;
  };
  using Value = std::variant<std::int64_t, Text>;

  Values& Int(std::int64_t value) {
    values_.emplace_back(value);
    return *this;
  }
  Values& Id(std::uint64_t value) { return Int(static_cast<std::int64_t>(value)); }
  Values& Word(std::string_view value) {  // of a text column
    values_.emplace_back(Text{value});
    return *this;
  }
  const std::vector<Value>& All() const { return values_; }

 private:
  std::vector<Value> values_;
};

// Asks one store. All questions of one object are about one moment only if its maker says so.
class Queries {
 public:
  using Take = std::function<Result<>(const Row&)>;
  virtual ~Queries() = default;
  // Calls `take` with each row; stops at its first error.
  virtual Result<> Each(std::string_view sql, const Values& values, const Take& take) = 0;

  // Behind the name of a table: the index to use, in a database that can be told; else "".
  virtual std::string IndexedBy(std::string_view index) const = 0;
  // A bound on the second of two columns of an index, whose first has one value, written so that
  // the database walks that index. The value and the bound are its two parameters.
  virtual std::string Bound(std::string_view column, std::string_view second,
                            std::string_view sign) const = 0;
};

template <typename T, typename Decode>
Result<std::vector<T>> ReadAll(Queries& queries, std::string_view sql, const Values& values,
                               Decode decode) {
  std::vector<T> all;
  auto read = queries.Each(sql, values, [&](const Row& row) -> Result<> {
    Result<T> one = decode(row);
    if (!one) return Fail(one.error());
    all.push_back(std::move(*one));
    return {};
  });
  if (!read) return Fail(read.error());
  return all;
}

template <typename T, typename Decode>
Result<std::optional<T>> ReadOne(Queries& queries, std::string_view sql, const Values& values,
                                 Decode decode) {
  auto all = ReadAll<T>(queries, sql, values, decode);
  if (!all) return Fail(all.error());
  if (all->empty()) return std::optional<T>();
  return std::optional<T>(std::move(all->front()));
}

inline std::int64_t LimitOf(std::size_t limit) {
  constexpr std::size_t kMost = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(limit < kMost ? limit : kMost);
}

// A keyset bound: 0 is none.
inline std::int64_t BeforeOf(std::uint64_t before) {
  return before == 0 ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(before);
}

}  // namespace muster::records
