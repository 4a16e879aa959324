#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "adapters/postgres/connection.hpp"
#include "adapters/records/query.hpp"

// What a session is to the reads of both stores, and reads with parameters that only PostgreSQL
// has.
namespace muster::postgres {

// Each question is about a moment of its own, unless the session is inside a transaction.
class Queries final : public records::Queries {
 public:
  explicit Queries(Connection& connection) : connection_(connection) {}

  Result<> Each(std::string_view sql, const records::Values& values, const Take& take) override {
    Params params;
    for (const auto& value : values.All()) {
      if (const auto* number = std::get_if<std::int64_t>(&value))
        params.Int(*number);
      else
        params.Bytes(std::get<records::Values::Text>(value).text);
    }
    const auto rows = connection_.Ask(sql, params);
    if (!rows) return Fail(rows.error());
    for (int i = 0; i < rows->Count(); ++i)
      if (Result<> taken = take(rows->At(i)); !taken) return taken;
    return {};
  }
  std::string IndexedBy(std::string_view /*index*/) const override { return {}; }
  // It cannot be told which index to use. A pair that is compared as one leaves it no other.
  std::string Bound(std::string_view column, std::string_view second,
                    std::string_view sign) const override {
    return fmt::format("({}, {}) {} (?, ?)", column, second, sign);
  }
  Connection& connection() { return connection_; }

 private:
  Connection& connection_;
};

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

}  // namespace muster::postgres
