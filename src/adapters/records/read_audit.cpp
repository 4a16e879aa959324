#include <fmt/format.h>

#include "adapters/records/readers.hpp"
#include "adapters/records/row_values.hpp"

namespace muster::records {

// The act is spelled out as in the condition of the index.
Result<std::vector<HostId>> ListRemovedHosts(Queries& queries, std::string_view name,
                                             std::size_t limit) {
  const std::string object = fmt::format("host {}", name);
  return ReadAll<HostId>(
      queries,
      "SELECT h.host FROM audit a JOIN audit_host h ON h.number = a.number"
      " WHERE a.act = 'host.remove' AND a.object = ? ORDER BY a.number DESC LIMIT ?",
      Values().Word(object).Int(LimitOf(limit)),
      [](const Row& row) -> Result<HostId> { return HostId(row.Id(0)); });
}

Result<std::vector<AuditEntry>> ReadAudit(Queries& queries, std::uint64_t from, std::size_t limit) {
  return ReadAll<AuditEntry>(
      queries,
      fmt::format("SELECT {} FROM audit WHERE number >= ? ORDER BY number LIMIT ?", kAuditColumns),
      Values().Id(from).Int(LimitOf(limit)), AuditOf);
}

Result<AuditHead> ReadAuditHead(Queries& queries) {
  auto head = ReadOne<AuditHead>(
      queries,
      "SELECT n.number - 1, h.bytes FROM meta n, meta h"
      " WHERE n.name = 'next_audit' AND h.name = 'audit_hash'",
      {}, [](const Row& row) -> Result<AuditHead> { return AuditHead{row.Id(0), row.Text(1)}; });
  if (!head) return Fail(head.error());
  return head->value_or(AuditHead());
}

}  // namespace muster::records
