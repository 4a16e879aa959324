#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/instant.hpp"
#include "domain/log.hpp"

// The spool: a task's output on the agent's disk, file `out` of the task's folder. It is a sequence
// of records, each a header of 16 bytes and then `size` bytes of output, numbers little endian:
//
//   offset 0  u32  size of the data, 1 to 65536
//          4  u8   stream: 1 stdout, 2 stderr
//          5  3 B  "SP1"
//          8  i64  wall time in milliseconds
//
// Only the shim writes it, always at its end. A shim or machine that dies leaves at most a torn
// record behind the whole ones; it ends the spool and is cut off when the task is settled.
namespace muster::agent {

constexpr std::size_t kSpoolHeaderBytes = 16;
constexpr std::size_t kMaxSpoolData = 64 << 10;

struct SpoolHeader {
  std::uint32_t size = 0;
  Stream stream = Stream::kStdout;
  WallTime time;

  friend bool operator==(const SpoolHeader&, const SpoolHeader&) = default;
};

std::array<char, kSpoolHeaderBytes> EncodeSpoolHeader(const SpoolHeader& header) noexcept;

// Nothing when the bytes are too few or not a header.
std::optional<SpoolHeader> DecodeSpoolHeader(std::string_view bytes) noexcept;

struct SpoolRecord {
  SpoolHeader header;
  std::string_view data;  // of the parsed bytes
};

struct ParsedSpool {
  std::vector<SpoolRecord> records;
  std::size_t whole_bytes = 0;  // of the file, up to the end of the last whole record
};

// The whole records at the beginning of `bytes`; whatever else stands behind them is not looked at.
ParsedSpool ParseSpool(std::string_view bytes);

}  // namespace muster::agent
