#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>

#include "adapters/files/durable.hpp"
#include "adapters/files/fd.hpp"
#include "base/result.hpp"

// Small files and descriptors, as agent and shim need them. Errors name the file; a missing one is
// kNotFound, everything else kUnavailable.
namespace muster::agent {

using files::Fd;
using files::WriteAll;

std::string ErrnoText(int error);

// Opened with O_CLOEXEC, and so that no terminal becomes ours.
Result<Fd> OpenFile(const std::string& path, int flags, mode_t mode = 0600);

Result<std::string> ReadFile(const std::string& path);

// The rest of an open file; `path` is for the error only.
Result<std::string> ReadAll(int fd, const std::string& path);

// Creates or overwrites; a crash may leave a part of it.
Result<> WriteFile(const std::string& path, std::string_view data, mode_t mode = 0600);

enum class Durability { kWritten, kSynced };

// The file is either the old one or the new one, whole. kSynced also survives a power loss.
Result<> ReplaceFile(const std::string& path, std::string_view data, mode_t mode = 0600,
                     Durability durability = Durability::kWritten);

// What was written to this file, or which names this folder holds, survives a power loss.
Result<> Sync(const std::string& path);

// Creates the folder and its parents; harmless when it is there.
Result<> MakeFolders(const std::string& path, mode_t mode);

bool Exists(const std::string& path) noexcept;

// Whether less than `percent` of the file system that holds `path` is free for ordinary users.
bool DiskIsLow(const std::string& path, unsigned percent) noexcept;
bool DiskIsLow(int fd, unsigned percent) noexcept;

}  // namespace muster::agent
