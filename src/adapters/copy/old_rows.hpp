#pragma once

#include <functional>

#include "adapters/copy/tables.hpp"
#include "adapters/copy/tuples.hpp"
#include "adapters/sqlite/database.hpp"

namespace muster::copy {

// Writes what runs of before there were jobs are in a table of today: their row, their plan or
// their one visit (adapters/sqlite/old_runs.hpp). Calls `sent` after each row.
Result<> PutOldRows(sqlite::Database& from, const CopyTable& table, TupleWriter& to,
                    const std::function<Result<>()>& sent);

}  // namespace muster::copy
