#pragma once

#include <filesystem>

#include "base/instant.hpp"
#include "base/result.hpp"

// The mark of a data folder whose records were copied into a database and go on there. A server
// that went on from the folder's own would be a second one with the same terms.
namespace muster::server {

inline constexpr const char* kMovedMark = "moved";

Result<> MarkMoved(const std::filesystem::path& data, WallTime now);

// kConflict when the folder bears the mark.
Result<> CheckNotMoved(const std::filesystem::path& data);

}  // namespace muster::server
