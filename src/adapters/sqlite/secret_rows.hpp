#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "adapters/sqlite/database.hpp"
#include "domain/records.hpp"

// Reads of secrets and of open notices; inside their callers' transactions, as record_reader.hpp.
namespace muster::sqlite {

Result<std::optional<Secret>> ReadSecret(Database& database, std::string_view name);
Result<std::vector<Secret>> ReadSecrets(Database& database);
Result<std::vector<OpenNotice>> ReadNotices(Database& database);

}  // namespace muster::sqlite
