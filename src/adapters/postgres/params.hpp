#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::postgres {

// Types of parameters and columns, as PostgreSQL numbers them. Muster's strings are bytes, so that
// any of them survives and they are ordered byte by byte.
constexpr unsigned kInt8 = 20;
constexpr unsigned kBytea = 17;
constexpr unsigned kInt8Array = 1016;
constexpr unsigned kByteaArray = 1001;

// The parameters of one statement in binary form, in the order they are added.
class Params {
 public:
  Params& Int(std::int64_t value);
  Params& Id(std::uint64_t value) { return Int(static_cast<std::int64_t>(value)); }
  Params& Bytes(std::string_view value);
  // An array already in binary form (ArrayBuilder).
  Params& Array(unsigned type, std::string value);

  int Count() const { return static_cast<int>(values_.size()); }
  const std::vector<unsigned>& Types() const { return types_; }
  const std::vector<std::string>& Values() const { return values_; }

 private:
  std::vector<unsigned> types_;
  std::vector<std::string> values_;
};

// A one-dimensional array in binary form, value by value.
class ArrayBuilder {
 public:
  explicit ArrayBuilder(unsigned element);  // kInt8 or kBytea

  void Int(std::int64_t value);
  void Bytes(std::string_view value);
  void Null();

  unsigned Type() const;
  std::string Take() &&;

 private:
  unsigned element_;
  std::int32_t count_ = 0;
  bool nulls_ = false;
  std::string data_;
};

// Adds an array of numbers, or of strings.
Params& AddInts(Params& params, std::span<const std::int64_t> values);
Params& AddStrings(Params& params, std::span<const std::string> values);

}  // namespace muster::postgres
