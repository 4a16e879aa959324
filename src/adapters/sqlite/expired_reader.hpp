#pragma once

#include "adapters/sqlite/database.hpp"
#include "ports/store.hpp"

namespace muster::sqlite {

// As Store::FindExpired says, inside the caller's transaction.
Result<Expired> ReadExpired(Database& database, const Cutoffs& cutoffs, std::size_t most);

}  // namespace muster::sqlite
