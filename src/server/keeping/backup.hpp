#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "adapters/archive/manifest.hpp"
#include "adapters/postgres/options.hpp"
#include "base/instant.hpp"
#include "base/result.hpp"

namespace muster::server {

// Told how far a copy out of a database, or into one, is.
using BackupProgress = std::function<void(std::string_view what, std::uint64_t rows)>;

struct BackupOptions {
  std::filesystem::path data;
  std::filesystem::path file;
  PostgresOptions postgres;  // where the records are; without an address: in the folder
  bool logs = false;         // also the output of tasks
  bool force = false;        // replace the file
  BackupProgress progress = {};
};

// Writes one moment of a data folder into one file, whether a server uses the folder or not, reads
// it back, and leaves a note for the server. What is in it: the records, and every other file of
// the folder that is not made anew at a start. Records of a database are in it as they would be in
// the folder, so any backup can be restored into either.
Result<archive::Manifest> MakeBackup(const BackupOptions& options, WallTime now);

struct RestoreOptions {
  std::filesystem::path file;
  std::filesystem::path data;
  PostgresOptions postgres;  // where the records go; without an address: into the folder
  bool force = false;        // replace what is in the folder, and in the database
  // Asked before anything is replaced, with what that costs, a few lines. False: nothing is.
  std::function<bool(const std::string& what)> agreed = {};
  BackupProgress progress = {};
};

struct RestoreOutcome {
  archive::Manifest manifest;
  std::filesystem::path
      replaced;  // where in the folder its old content is now; "" when it had none
  std::uint64_t term = 0;
  std::uint64_t id_space = 0;
};

// Makes a data folder from a backup: empty or not there, unless forced, and never one that a server
// uses. Until the backup has been read and found whole, nothing in the folder changes. What a
// forced one replaces is kept in a folder of its own inside; records of a database are not. With a
// database the folder gets all but records and output, which go there as one transaction: into one
// without records, unless forced, and never while a server leads on it. Run by root, it works with
// the rights of the folder's owner, to whom all files belong afterwards.
Result<RestoreOutcome> RestoreBackup(const RestoreOptions& options, WallTime now);

// kConflict when a restore into this folder did not come to its end.
Result<> CheckRestoreEnded(const std::filesystem::path& data);

// `musterd backup …` and `musterd restore …`: the words after `musterd`, exit code.
int BackupMain(int argc, char** argv);
int RestoreMain(int argc, char** argv);

}  // namespace muster::server
