#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace muster::records {

// zstd at its quickest; nullopt when that would not make the data smaller. Safe from any thread.
std::optional<std::string> Compress(std::string_view data);

// kInternal when the data is damaged or would unpack to more than `most` bytes.
Result<std::string> Decompress(std::string_view data, std::size_t most);

// What one record may have, unpacked.
constexpr std::size_t kMostPacked = 256 << 20;

// One byte that says how, then the data, compressed where that pays. kInternal for more than
// kMostPacked: Unpack would refuse it.
Result<std::string> Pack(std::string_view data);
Result<std::string> Unpack(std::string_view packed);

}  // namespace muster::records
