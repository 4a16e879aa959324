#pragma once

#include <filesystem>

#include "base/result.hpp"

namespace muster::server {

// Keys that a data folder gets together: all of them or none, also if the process is killed or the
// machine loses power in between. Their files are written into a folder beside, `.keys.new`. One
// rename, to `.keys`, decides that they count; each file then moves to its place. FinishKeySet ends
// what a crash interrupted. One process at a time may do this in a data folder: the caller holds
// its lock.
//
//   .keys.new   not all files are whole: counts for nothing, and is removed
//   .keys       all files are whole and synced: those that are still in it move to their places

// Makes an empty `.keys.new` and returns its path. Files are written there with WriteSecret.
Result<std::filesystem::path> BeginKeySet(const std::filesystem::path& data);

// Puts the files of `.keys.new` into the data folder. Each replaces a file of its name.
Result<> PutKeySet(const std::filesystem::path& data);

// To be called before anything asks which keys are there. kUnavailable: a file cannot be moved or
// removed; the next call tries again.
Result<> FinishKeySet(const std::filesystem::path& data);

}  // namespace muster::server
