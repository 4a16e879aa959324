#pragma once

#include "adapters/postgres/connection.hpp"
#include "ports/store.hpp"

namespace muster::postgres {

// As Store::FindExpired, inside a transaction that its caller opened.
Result<Expired> ReadExpired(Connection& connection, const Cutoffs& cutoffs, std::size_t most);

}  // namespace muster::postgres
