#include "adapters/copy/tuples.hpp"

#include <type_traits>

namespace muster::copy {
namespace {

constexpr std::string_view kSignature("PGCOPY\n\377\r\n\0", 11);
constexpr std::size_t kHead = kSignature.size() + 8;  // then flags and the length of an extension

template <typename T>
void Append(std::string& out, T value) {
  const auto bits = static_cast<std::make_unsigned_t<T>>(value);
  for (int shift = static_cast<int>(sizeof(T)) * 8 - 8; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(bits >> shift & 0xFF));
}

template <typename T>
T Read(std::string_view bytes) {
  std::make_unsigned_t<T> value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<std::make_unsigned_t<T>>(value << 8 | static_cast<unsigned char>(bytes[i]));
  return static_cast<T>(value);
}

}  // namespace

TupleWriter::TupleWriter() : bytes_(kSignature) {
  Append(bytes_, std::int32_t{0});
  Append(bytes_, std::int32_t{0});
}

void TupleWriter::Row(std::size_t columns) { Append(bytes_, static_cast<std::int16_t>(columns)); }

void TupleWriter::Int(std::int64_t value) {
  Append(bytes_, std::int32_t{8});
  Append(bytes_, value);
}

void TupleWriter::Bytes(std::string_view value) {
  Append(bytes_, static_cast<std::int32_t>(value.size()));
  bytes_ += value;
}

void TupleWriter::Null() { Append(bytes_, std::int32_t{-1}); }

void TupleWriter::End() { Append(bytes_, std::int16_t{-1}); }

void TupleReader::Add(std::string_view bytes) {
  bytes_.erase(0, at_);
  at_ = 0;
  bytes_ += bytes;
}

bool TupleReader::ReadHead() {
  if (began_) return true;
  if (bytes_.size() < kHead) return false;
  const auto more = Read<std::int32_t>(std::string_view(bytes_).substr(kHead - 4));
  if (bytes_.size() < kHead + static_cast<std::size_t>(more)) return false;
  at_ = kHead + static_cast<std::size_t>(more);
  return began_ = true;
}

Result<bool> TupleReader::Next(std::size_t columns, std::vector<Cell>& row) {
  if (!ReadHead() || ended_) return false;
  const std::string_view all(bytes_);
  std::size_t at = at_;
  if (all.size() < at + 2) return false;
  const auto count = Read<std::int16_t>(all.substr(at));
  at += 2;
  if (count == -1) {
    ended_ = true;
    return false;
  }
  if (count != static_cast<std::int16_t>(columns))
    return Fail(ErrorCode::kInternal, "a row of {} columns came, not of {}", count, columns);
  row.clear();
  for (std::size_t i = 0; i < columns; ++i) {
    if (all.size() < at + 4) return false;
    const auto size = Read<std::int32_t>(all.substr(at));
    at += 4;
    const std::size_t bytes = size < 0 ? 0 : static_cast<std::size_t>(size);
    if (all.size() < at + bytes) return false;
    row.push_back({.bytes = all.substr(at, bytes), .null = size < 0});
    at += bytes;
  }
  at_ = at;
  return true;
}

std::int64_t NumberOf(const Cell& cell) {
  return cell.bytes.size() == 8 ? Read<std::int64_t>(cell.bytes) : 0;
}

}  // namespace muster::copy
