#pragma once

#include "adapters/sqlite/database.hpp"
#include "ports/store.hpp"

// Reads of the audit trail; as in record_reader.hpp each runs inside its caller's transaction.
namespace muster::sqlite {

Result<AuditPage> ReadAuditPage(Database& database, const AuditFilter& filter, std::uint64_t before,
                                std::size_t limit);
Result<std::vector<HostId>> ReadRemovedHosts(Database& database, std::string_view name,
                                             std::size_t limit);
Result<std::vector<AuditEntry>> ReadAuditFrom(Database& database, std::uint64_t from,
                                              std::size_t limit);
Result<AuditHead> ReadAuditHead(Database& database);

// Gives hashes to entries that a musterd of schema 1 made without them, in a transaction of its
// own; does nothing where that was done, as a head is kept from then on.
Result<> ChainOldAudit(Database& database);

}  // namespace muster::sqlite
