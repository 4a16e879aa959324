#pragma once

#include "adapters/postgres/connection.hpp"
#include "ports/store.hpp"

namespace muster::postgres {

Result<std::string> ReadCluster(Connection& connection);
Result<Fence> ReadFence(Connection& connection);
Result<std::vector<Token>> ReadTokens(Connection& connection);  // by name

// As Store::Load, inside a transaction that its caller opened.
Result<Snapshot> ReadSnapshot(Connection& connection, Term term);

}  // namespace muster::postgres
