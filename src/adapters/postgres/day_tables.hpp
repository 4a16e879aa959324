#pragma once

#include <string>
#include <vector>

#include "adapters/postgres/connection.hpp"
#include "base/result.hpp"

// The tables that output is kept in, one a day.
namespace muster::postgres {

// chunk_20261115 for 2026-11-15, and back.
std::string DayTable(const std::string& day);
std::string DayOf(const std::string& table);

// SQL that makes a day's table, and what counts days that were dropped, unless they are there. To
// be run under the lock that PostgresDays takes, or alone in the database.
std::string MakeDayTable(const std::string& table);

// Those that are there, the oldest first.
Result<std::vector<std::string>> ListDayTables(Connection& connection);

}  // namespace muster::postgres
