#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/instant.hpp"
#include "domain/ids.hpp"

namespace muster {

enum class Stream : std::uint8_t { kStdout = 1, kStderr = 2 };

// What is known of a task's output. kOpen: still coming. kComplete: every byte is durable and the
// hashes agree. kCut: complete up to the quota, and told so. kGap: bytes are missing (a lost host,
// a full disk). kExpired: dropped by retention.
enum class LogState : std::uint8_t { kOpen = 0, kComplete = 1, kGap = 2, kCut = 3, kExpired = 4 };

std::string_view Name(LogState state) noexcept;
std::string_view Name(Stream stream) noexcept;

// A piece of a task's output. `offset` counts the bytes of both streams in the order the shim read
// them, so the chunks of an attempt tile [0, size) without hole or overlap.
struct LogChunk {
  TaskKey task;
  std::uint64_t offset = 0;
  Stream stream = Stream::kStdout;
  WallTime time;  // by the host's clock
  std::string data;

  friend bool operator==(const LogChunk&, const LogChunk&) = default;
};

// What the node says of a finished output: sizes, and SHA-256 of each stream (32 bytes; of the
// empty string when the stream was silent).
struct LogTotals {
  std::uint64_t bytes = 0;    // kept, both streams
  std::uint64_t dropped = 0;  // past the quota, not kept
  bool gap = false;           // the node itself lost some (full disk, shim killed)
  std::string stdout_sha256;
  std::string stderr_sha256;
  // Of the output with what differs from host to host taken out (its name, addresses, times,
  // process ids): 32 bytes, "" when the node does not know.
  std::string masked_sha256 = {};

  friend bool operator==(const LogTotals&, const LogTotals&) = default;
};

// The final mark, kept with the task.
struct LogMark {
  LogState state = LogState::kOpen;
  std::uint64_t bytes = 0;
  std::string stdout_sha256;
  std::string stderr_sha256;
  std::string masked_sha256 = {};  // see LogTotals

  friend bool operator==(const LogMark&, const LogMark&) = default;
};

// SHA-256 of nothing: what a silent stream's hash is.
extern const std::string kEmptySha256;

}  // namespace muster
