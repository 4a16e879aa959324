#pragma once

#include <vector>

#include "adapters/postgres/connection.hpp"
#include "ports/store.hpp"

// Reads of the audit trail, as Store says.
namespace muster::postgres {

// Reads several times, inside a transaction that its caller opened.
Result<AuditPage> ReadAuditPage(Connection& connection, const AuditFilter& filter,
                                std::uint64_t before, std::size_t limit);
Result<std::vector<HostId>> ReadRemovedHosts(Connection& connection, std::string_view name,
                                             std::size_t limit);
Result<std::vector<AuditEntry>> ReadAuditFrom(Connection& connection, std::uint64_t from,
                                              std::size_t limit);
Result<AuditHead> ReadAuditHead(Connection& connection);

}  // namespace muster::postgres
