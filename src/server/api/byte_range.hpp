#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace muster::server::api {

// Some of a file's bytes: [begin, end).
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// What a `Range` header asks of a file of `size` bytes: "bytes=5-9", "bytes=5-", "bytes=-5".
// Anything else, several ranges too, is as if there were no header, which HTTP allows.
struct RangeAnswer {
  enum class Kind { kWhole, kPart, kNone } kind = Kind::kWhole;  // kNone: there are no such bytes
  ByteRange range = {};
};
RangeAnswer ReadRange(std::string_view header, std::uint64_t size);

// What a `Content-Range` header says of an upload: "bytes 5-9/10", "bytes */0".
struct UploadRange {
  ByteRange range = {};
  std::uint64_t size = 0;  // of the whole file

  friend bool operator==(const UploadRange&, const UploadRange&) = default;
};
std::optional<UploadRange> ReadUploadRange(std::string_view header);

}  // namespace muster::server::api
