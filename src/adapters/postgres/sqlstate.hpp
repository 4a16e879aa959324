#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace muster::postgres {

// Codes of Muster's own functions in the database (schema.cpp).
constexpr std::string_view kStateFenced = "MU001";
constexpr std::string_view kStateThere = "MU002";   // the batch is there already
constexpr std::string_view kStateNumber = "MU003";  // the store is at another batch
// Of PostgreSQL.
constexpr std::string_view kStateLocked = "55P03";  // a lock was not given in time
constexpr std::string_view kStateNoTable = "42P01";

// What a refusal by the server means: kUnavailable when it did not happen and may work later (the
// server goes down or is out of something, a time ran out, two sessions met), kFenced as it says,
// kInternal when a constraint or the SQL is wrong.
Error ErrorOf(std::string_view state, std::string_view message);

// libpq's words on one line, without `secret`.
std::string Tidy(std::string_view message, std::string_view secret);

}  // namespace muster::postgres
