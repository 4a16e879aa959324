#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace muster::archive {

constexpr std::size_t kTarBlock = 512;
using TarBlock = std::array<char, kTarBlock>;

struct TarEntry {
  std::string name;  // at most 100 bytes
  std::uint64_t size = 0;
  unsigned mode = 0600;
};

// A regular file's header, as ustar has it.
Result<TarBlock> FormatTarHeader(const TarEntry& entry);
// kInvalid: not a header of a regular file.
Result<TarEntry> ParseTarHeader(const TarBlock& block);
bool IsTarEnd(const TarBlock& block);

// Bytes that fill the last block after `size`.
constexpr std::size_t TarPadding(std::uint64_t size) {
  return static_cast<std::size_t>((kTarBlock - size % kTarBlock) % kTarBlock);
}

}  // namespace muster::archive
