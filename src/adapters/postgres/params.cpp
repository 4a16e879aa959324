#include "adapters/postgres/params.hpp"

#include <bit>
#include <cstring>

namespace muster::postgres {
namespace {

// The wire is big-endian.
template <typename T>
void Append(std::string& out, T value) {
  const auto bits = static_cast<std::make_unsigned_t<T>>(value);
  for (int shift = static_cast<int>(sizeof(T)) * 8 - 8; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(bits >> shift & 0xFF));
}

}  // namespace

Params& Params::Int(std::int64_t value) {
  types_.push_back(kInt8);
  Append(values_.emplace_back(), value);
  return *this;
}

Params& Params::Bytes(std::string_view value) {
  types_.push_back(kBytea);
  values_.emplace_back(value);
  return *this;
}

Params& Params::Array(unsigned type, std::string value) {
  types_.push_back(type);
  values_.push_back(std::move(value));
  return *this;
}

ArrayBuilder::ArrayBuilder(unsigned element) : element_(element) {}

void ArrayBuilder::Int(std::int64_t value) {
  ++count_;
  Append(data_, std::int32_t{8});
  Append(data_, value);
}

void ArrayBuilder::Bytes(std::string_view value) {
  ++count_;
  Append(data_, static_cast<std::int32_t>(value.size()));
  data_ += value;
}

void ArrayBuilder::Null() {
  ++count_;
  nulls_ = true;
  Append(data_, std::int32_t{-1});
}

unsigned ArrayBuilder::Type() const { return element_ == kInt8 ? kInt8Array : kByteaArray; }

std::string ArrayBuilder::Take() && {
  std::string out;
  out.reserve(data_.size() + 20);
  Append(out, std::int32_t{count_ == 0 ? 0 : 1});  // dimensions
  Append(out, std::int32_t{nulls_ ? 1 : 0});
  Append(out, static_cast<std::int32_t>(element_));
  if (count_ == 0) return out;
  Append(out, count_);
  Append(out, std::int32_t{1});  // the first index
  out += data_;
  return out;
}

Params& AddInts(Params& params, std::span<const std::int64_t> values) {
  ArrayBuilder array(kInt8);
  for (const auto value : values) array.Int(value);
  return params.Array(kInt8Array, std::move(array).Take());
}

Params& AddStrings(Params& params, std::span<const std::string> values) {
  ArrayBuilder array(kBytea);
  for (const auto& value : values) array.Bytes(value);
  return params.Array(kByteaArray, std::move(array).Take());
}

}  // namespace muster::postgres
