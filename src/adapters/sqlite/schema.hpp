#pragma once

#include <string_view>

#include "adapters/sqlite/database.hpp"

namespace muster::sqlite {

// Makes or brings up to date the tables of records. kInvalid when a newer musterd made them.
Result<> MakeRecordTables(Database& database);

// The same for one day's file of logs.
Result<> MakeLogTables(Database& database);

}  // namespace muster::sqlite
