#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "adapters/copy/into_postgres.hpp"
#include "adapters/postgres/options.hpp"
#include "base/instant.hpp"
#include "base/result.hpp"

namespace muster::server {

struct StoreCopyOptions {
  std::filesystem::path data;
  PostgresOptions to;  // a PostgreSQL database without records
  bool logs = true;    // also the output of tasks
  copy::Progress progress;
};

struct StoreCopyOutcome {
  std::vector<copy::Copied> records;
  std::vector<copy::Copied> days;
  std::uint64_t term = 0;
  std::uint64_t number = 0;
};

// Copies the records of a data folder that no server uses into a database, as one transaction, and
// marks the folder as moved. Until then neither of them changes, but for tables of an older
// release, which are brought up to date as at a start. What is in the folder stays there.
Result<StoreCopyOutcome> CopyStore(const StoreCopyOptions& options, WallTime now);

// Files of output below the folder, by day.
std::vector<std::filesystem::path> DayFiles(const std::filesystem::path& data);

// Puts the records and the output of a folder (muster.db, logs/) into the database.
Result<StoreCopyOutcome> FillFrom(const std::filesystem::path& folder, bool logs,
                                  copy::Filling& filling, const copy::Progress& progress);

// `musterd store …`: the words after `musterd`, exit code.
int StoreMain(int argc, char** argv);

}  // namespace muster::server
