#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/instant.hpp"

namespace muster::server {

// Keeps a flood of refused calls from filling the log: so many lines in a while, then none, and the
// next line says how many were left out. One thread.
class RefusalLog {
 public:
  explicit RefusalLog(std::uint32_t lines = 20, Duration window = std::chrono::seconds(10))
      : most_(lines), window_(window) {}

  // How many were left out before this one; none when this one is to be left out too.
  std::optional<std::uint64_t> Admit(MonoTime now);

 private:
  const std::uint32_t most_;
  const Duration window_;
  MonoTime begun_{};
  std::uint32_t lines_ = 0;
  std::uint64_t left_out_ = 0;
};

// A word from outside as it may stand in a line of the log, between quotes: no control characters,
// quotes or backslashes, and cut after `most` bytes with "…".
std::string ForLog(std::string_view text, std::size_t most = 200);

}  // namespace muster::server
