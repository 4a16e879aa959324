#include "adapters/archive/tar.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <numeric>

namespace muster::archive {
namespace {

constexpr std::size_t kNameSize = 100;
constexpr std::size_t kModeAt = 100;
constexpr std::size_t kSizeAt = 124;
constexpr std::size_t kSizeSize = 12;
constexpr std::size_t kSumAt = 148;
constexpr std::size_t kSumSize = 8;
constexpr std::size_t kKindAt = 156;
constexpr std::size_t kMagicAt = 257;
constexpr std::uint64_t kMostOctal = 077777777777;

void Put(TarBlock& block, std::size_t at, std::string_view text) {
  std::ranges::copy(text, block.begin() + static_cast<std::ptrdiff_t>(at));
}

// The sum counts its own field as spaces.
unsigned SumOf(TarBlock block) {
  std::fill_n(block.begin() + kSumAt, kSumSize, ' ');
  return std::accumulate(block.begin(), block.end(), 0U, [](unsigned sum, char byte) {
    return sum + static_cast<unsigned char>(byte);
  });
}

std::uint64_t Octal(const TarBlock& block, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  std::from_chars(block.data() + at, block.data() + at + size, value, 8);
  return value;
}

// Past 8 GiB the size is binary, marked by its first bit, as GNU tar does it.
std::uint64_t SizeOf(const TarBlock& block) {
  if ((static_cast<unsigned char>(block[kSizeAt]) & 0x80) == 0)
    return Octal(block, kSizeAt, kSizeSize);
  std::uint64_t size = 0;
  for (std::size_t i = kSizeSize - 8; i < kSizeSize; ++i)
    size = size << 8 | static_cast<unsigned char>(block[kSizeAt + i]);
  return size;
}

}  // namespace

Result<TarBlock> FormatTarHeader(const TarEntry& entry) {
  if (entry.name.empty() || entry.name.size() > kNameSize)
    return Fail(ErrorCode::kInvalid, "the name '{}' is too long for an archive", entry.name);
  TarBlock block{};
  Put(block, 0, entry.name);
  Put(block, kModeAt, fmt::format("{:07o}", entry.mode));
  Put(block, 108, "0000000");  // owner and group: whoever restores
  Put(block, 116, "0000000");
  if (entry.size <= kMostOctal) {
    Put(block, kSizeAt, fmt::format("{:011o}", entry.size));
  } else {
    block[kSizeAt] = static_cast<char>(0x80);
    for (std::size_t i = 0; i < 8; ++i)
      block[kSizeAt + kSizeSize - 1 - i] = static_cast<char>(entry.size >> (8 * i) & 0xFF);
  }
  Put(block, 136, "00000000000");
  block[kKindAt] = '0';
  Put(block, kMagicAt, std::string_view("ustar\00000", 8));
  Put(block, kSumAt, fmt::format("{:06o}", SumOf(block)));
  block[kSumAt + 7] = ' ';
  return block;
}

Result<TarEntry> ParseTarHeader(const TarBlock& block) {
  const bool known = std::memcmp(block.data() + kMagicAt, "ustar", 5) == 0;
  if (!known || Octal(block, kSumAt, kSumSize) != SumOf(block) || block[kKindAt] != '0')
    return Fail(ErrorCode::kInvalid, "it is not a Muster backup");
  TarEntry entry;
  entry.name.assign(block.data(), strnlen(block.data(), kNameSize));
  entry.mode = static_cast<unsigned>(Octal(block, kModeAt, 8)) & 0777;
  entry.size = SizeOf(block);
  return entry;
}

bool IsTarEnd(const TarBlock& block) {
  return std::ranges::all_of(block, [](char byte) { return byte == 0; });
}

}  // namespace muster::archive
