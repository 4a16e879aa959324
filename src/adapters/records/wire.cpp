#include "adapters/records/wire.hpp"

namespace muster::records {
namespace {

constexpr unsigned kTypeBits = 3;
constexpr unsigned kGroupBits = 7;
constexpr std::uint64_t kMore = 0x80;

std::unexpected<Error> Damaged() {
  return Fail(ErrorCode::kInternal, "record: the bytes are damaged");
}

}  // namespace

void WireWriter::Varint(std::uint64_t value) {
  for (; value >= kMore; value >>= kGroupBits) out_.push_back(static_cast<char>(value | kMore));
  out_.push_back(static_cast<char>(value));
}

void WireWriter::Tag(std::uint32_t field, WireType type) {
  Varint(std::uint64_t{field} << kTypeBits | static_cast<std::uint64_t>(type));
}

void WireWriter::Number(std::uint32_t field, std::uint64_t value) {
  Tag(field, WireType::kVarint);
  Varint(value);
}

void WireWriter::Bytes(std::uint32_t field, std::string_view value) {
  Tag(field, WireType::kBytes);
  Varint(value.size());
  out_.append(value);
}

std::size_t WireWriter::Begin(std::uint32_t field) {
  Tag(field, WireType::kBytes);
  return out_.size();
}

void WireWriter::End(std::size_t begun) {
  // The length stands before the content and is known only now. Most contents are short.
  WireWriter length;
  length.Varint(out_.size() - begun);
  out_.insert(begun, length.out_);
}

void WireWriter::CutTo(std::size_t size) { out_.resize(size); }

void WireWriter::Packed(std::uint64_t value) { Varint(value); }

Result<std::uint64_t> TakePacked(std::string_view& packed) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += kGroupBits) {
    if (packed.empty()) return Damaged();
    const auto byte = static_cast<unsigned char>(packed.front());
    packed.remove_prefix(1);
    value |= (byte & (kMore - 1)) << shift;
    if (byte < kMore) return value;
  }
  return Damaged();
}

Result<std::uint64_t> WireReader::Varint() { return TakePacked(rest_); }

Result<> WireReader::Skip(std::size_t bytes) {
  if (rest_.size() < bytes) return Damaged();
  rest_.remove_prefix(bytes);
  return {};
}

Result<bool> WireReader::Next() {
  if (rest_.empty()) return false;
  const auto tag = Varint();
  if (!tag) return Fail(tag.error());
  const std::uint64_t field = *tag >> kTypeBits;
  if (field == 0 || field > UINT32_MAX) return Damaged();
  field_ = static_cast<std::uint32_t>(field);
  type_ = static_cast<WireType>(*tag & ((1U << kTypeBits) - 1));
  switch (type_) {
    case WireType::kVarint: {
      const auto number = Varint();
      if (!number) return Fail(number.error());
      number_ = *number;
      return true;
    }
    case WireType::kBytes: {
      const auto size = Varint();
      if (!size) return Fail(size.error());
      if (*size > rest_.size()) return Damaged();
      bytes_ = rest_.substr(0, *size);
      rest_.remove_prefix(*size);
      return true;
    }
    case WireType::kFixed64:
    case WireType::kFixed32:
      // No field of ours is written so, but a later one may be.
      if (auto skipped = Skip(type_ == WireType::kFixed64 ? 8 : 4); !skipped)
        return Fail(skipped.error());
      return true;
  }
  return Damaged();
}

Result<std::uint64_t> WireReader::Number() const {
  if (type_ != WireType::kVarint)
    return Fail(ErrorCode::kInternal, "record: field {} holds no number", field_);
  return number_;
}

Result<std::string_view> WireReader::Bytes() const {
  if (type_ != WireType::kBytes)
    return Fail(ErrorCode::kInternal, "record: field {} holds no bytes", field_);
  return bytes_;
}

}  // namespace muster::records
