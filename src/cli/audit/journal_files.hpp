#pragma once

#include <string>

#include <boost/json/value.hpp>

#include "base/result.hpp"
#include "checks/journal.hpp"

namespace muster::cli {

// Hands every line of a node's journal to `checker`. A last line without its end, as a crash or a
// full disk leaves it, is left out. kNotFound, or kInvalid with the line's number.
Result<> ReadJournal(const std::string& path, checks::JournalChecker& checker);

// A row as GET /checks/history gives it with `rows`.
checks::JournalRow JournalRowOf(const boost::json::value& row);

}  // namespace muster::cli
