#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/instant.hpp"
#include "base/result.hpp"

namespace muster::server {

// The note that `musterd backup` leaves in the data folder, for the server to tell the age of the
// last backup.
struct LastBackup {
  WallTime taken;
  std::uint64_t bytes = 0;
  std::string file;
};

Result<> WriteLastBackup(const std::filesystem::path& data, const LastBackup& backup);
// None when there was no backup, or the note cannot be read.
std::optional<LastBackup> ReadLastBackup(const std::filesystem::path& data);

}  // namespace muster::server
