#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

// The bytes of a record: fields in the encoding of Protocol Buffers, so that any tool for it can
// read a blob of the store. field.hpp says which C++ type becomes which field.
namespace muster::records {

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Appends fields to a string.
class WireWriter {
 public:
  void Number(std::uint32_t field, std::uint64_t value);
  void Bytes(std::uint32_t field, std::string_view value);

  // A field whose content is written in between: a message, or packed numbers.
  std::size_t Begin(std::uint32_t field);  // returns what End wants
  void End(std::size_t begun);
  void Packed(std::uint64_t value);  // between the two: one number without a field
  void CutTo(std::size_t size);      // takes back what was written since Size() was this

  std::string Take() && { return std::move(out_); }
  std::size_t Size() const { return out_.size(); }

 private:
  void Varint(std::uint64_t value);
  void Tag(std::uint32_t field, WireType type);

  std::string out_;
};

// Reads the fields of one message, in any order. Points into the bytes it was made with.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  // Goes to the next field; false at the end. kInternal: the bytes are damaged.
  Result<bool> Next();
  std::uint32_t Field() const { return field_; }

  // What the field holds. kInternal: it is of another type.
  Result<std::uint64_t> Number() const;
  Result<std::string_view> Bytes() const;

 private:
  Result<std::uint64_t> Varint();
  Result<> Skip(std::size_t bytes);

  std::string_view rest_;
  std::uint32_t field_ = 0;
  WireType type_ = WireType::kVarint;
  std::uint64_t number_ = 0;
  std::string_view bytes_;
};

// The next of packed numbers, which is taken off `packed`.
Result<std::uint64_t> TakePacked(std::string_view& packed);

}  // namespace muster::records
