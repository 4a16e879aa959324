#pragma once

#include <string>
#include <string_view>

// Writes that are whole and survive a power loss. 0, or the errno.
namespace muster::files {

// All of `data`, also when a signal or a full pipe makes a write shorter.
int WriteAll(int fd, std::string_view data) noexcept;

// Renames inside an open folder (not O_PATH), and syncs the folder. What the file holds is for the
// caller to sync first.
int RenameSynced(int folder, const std::string& from, const std::string& to) noexcept;

}  // namespace muster::files
