#include "adapters/postgres/tables.hpp"

namespace muster::postgres {
namespace {

// A row never changes its host: another one breaks NOT NULL, and the batch with it. The node is
// found by what the row says of it; a row that was never sent has none.
constexpr const char* kPutTask = R"(
  INSERT INTO task AS o (run, visit, ordinal, attempt, host, state, sent, sent_commit, sent_term,
                         ended, ended_commit, ended_term, node, log_state, log_bytes, rest)
  SELECT t.run, t.visit, t.ordinal, t.attempt, t.host, t.state, t.sent, t.sent_commit, t.sent_term,
         t.ended, t.ended_commit, t.ended_term, coalesce(n.id, 0), t.log_state, t.log_bytes, t.rest
  FROM unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    AS t (run, visit, ordinal, attempt, host, state, sent, sent_commit, sent_term, ended,
          ended_commit, ended_term, store, boot, log_state, log_bytes, rest)
  LEFT JOIN node n ON n.store = t.store AND n.boot = t.boot
  ON CONFLICT (run, visit, ordinal, attempt) DO UPDATE SET
    host = CASE WHEN o.host = excluded.host THEN o.host END,
    state = excluded.state, sent = excluded.sent, sent_commit = excluded.sent_commit,
    sent_term = excluded.sent_term, ended = excluded.ended, ended_commit = excluded.ended_commit,
    ended_term = excluded.ended_term, node = excluded.node, log_state = excluded.log_state,
    log_bytes = excluded.log_bytes, rest = excluded.rest)";

constexpr const char* kPutAudit = R"(
  INSERT INTO audit (number, at, actor, address, client, act, object, detail, reason, run, hosts,
                     names, command, command_sha256, previous, hash)
  SELECT * FROM unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (number) DO UPDATE SET
    at = excluded.at, actor = excluded.actor, address = excluded.address, client = excluded.client,
    act = excluded.act, object = excluded.object, detail = excluded.detail,
    reason = excluded.reason, run = excluded.run, hosts = excluded.hosts, names = excluded.names,
    command = excluded.command, command_sha256 = excluded.command_sha256,
    previous = excluded.previous, hash = excluded.hash)";

constexpr Table kTables[] = {
    {TableId::kHost, "ib", 1,
     "INSERT INTO host SELECT * FROM unnest(?, ?)"
     " ON CONFLICT (id) DO UPDATE SET record = excluded.record",
     "DELETE FROM host USING unnest(?) AS d (id) WHERE host.id = d.id"},
    {TableId::kInvite, "bib", 1,
     "INSERT INTO invite SELECT * FROM unnest(?, ?, ?)"
     " ON CONFLICT (id) DO UPDATE SET uses_left = excluded.uses_left, record = excluded.record",
     "DELETE FROM invite USING unnest(?) AS d (id) WHERE invite.id = d.id"},
    {TableId::kToken, "bbibiibi", 1,
     "INSERT INTO token SELECT * FROM unnest(?, ?, ?, ?, ?, ?, ?, ?)"
     " ON CONFLICT (name) DO UPDATE SET hash = excluded.hash, role = excluded.role,"
     " created_by = excluded.created_by, created = excluded.created, expires = excluded.expires,"
     " revoked_by = excluded.revoked_by, revoked = excluded.revoked",
     "DELETE FROM token USING unnest(?) AS d (name) WHERE token.name = d.name"},
    {TableId::kPending, "bb", 1,
     "INSERT INTO pending_join SELECT * FROM unnest(?, ?)"
     " ON CONFLICT (name) DO UPDATE SET record = excluded.record",
     "DELETE FROM pending_join p USING unnest(?) AS d (name) WHERE p.name = d.name"},
    {TableId::kRun, "iibib", 1,
     "INSERT INTO run SELECT * FROM unnest(?, ?, ?, ?, ?)"
     " ON CONFLICT (id) DO UPDATE SET state = excluded.state, by = excluded.by,"
     " created = excluded.created, record = excluded.record",
     ""},
    {TableId::kPlan, "ib", 1,
     "INSERT INTO plan SELECT * FROM unnest(?, ?)"
     " ON CONFLICT (run) DO UPDATE SET record = excluded.record",
     ""},
    {TableId::kTargets, "ib", 1,
     "INSERT INTO targets SELECT * FROM unnest(?, ?)"
     " ON CONFLICT (run) DO UPDATE SET record = excluded.record",
     ""},
    {TableId::kVisit, "iib", 2,
     "INSERT INTO visit SELECT * FROM unnest(?, ?, ?)"
     " ON CONFLICT (run, visit) DO UPDATE SET record = excluded.record",
     ""},
    {TableId::kNode, "bb", 2,
     "INSERT INTO node (store, boot) SELECT * FROM unnest(?, ?) ON CONFLICT DO NOTHING", ""},
    {TableId::kTask, "iiiiiiiiiiiibbiib", 4, kPutTask, ""},
    {TableId::kOpenLog, "iiii", 4,
     "INSERT INTO open_log SELECT * FROM unnest(?, ?, ?, ?) ON CONFLICT DO NOTHING",
     "DELETE FROM open_log o USING unnest(?, ?, ?, ?) AS d (run, visit, ordinal, attempt)"
     " WHERE (o.run, o.visit, o.ordinal, o.attempt) = (d.run, d.visit, d.ordinal, d.attempt)"},
    {TableId::kKey, "bbbii", 2,
     "INSERT INTO idempotency_key SELECT * FROM unnest(?, ?, ?, ?, ?)"
     " ON CONFLICT (caller, key) DO UPDATE SET body_sha256 = excluded.body_sha256,"
     " run = excluded.run, created = excluded.created",
     ""},
    {TableId::kWish, "iiiiib", 5,
     "INSERT INTO wish SELECT * FROM unnest(?, ?, ?, ?, ?, ?)"
     " ON CONFLICT (run, visit, ordinal, host, attempt) DO UPDATE SET record = excluded.record",
     "DELETE FROM wish w USING unnest(?, ?, ?, ?, ?) AS d (run, visit, ordinal, host, attempt)"
     " WHERE (w.run, w.visit, w.ordinal, w.host, w.attempt)"
     " = (d.run, d.visit, d.ordinal, d.host, d.attempt)"},
    {TableId::kHold, "iiiiib", 6,
     "INSERT INTO hold SELECT * FROM unnest(?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
     "DELETE FROM hold h USING unnest(?, ?, ?, ?, ?, ?)"
     " AS d (run, visit, ordinal, host, attempt, key)"
     " WHERE (h.run, h.visit, h.ordinal, h.host, h.attempt, h.key)"
     " = (d.run, d.visit, d.ordinal, d.host, d.attempt, d.key)"},
    {TableId::kAudit, "iibbbbbbbiibbbbb", 1, kPutAudit, ""},
    {TableId::kAuditHost, "ii", 2,
     "INSERT INTO audit_host SELECT * FROM unnest(?, ?) ON CONFLICT DO NOTHING", ""},
    {TableId::kDocument, "bbib", 3,
     "INSERT INTO document SELECT * FROM unnest(?, ?, ?, ?)"
     " ON CONFLICT (kind, name, version) DO UPDATE SET record = excluded.record",
     ""},
    // What is dropped stays for its versions.
    {TableId::kDocumentHead, "bbiib", 2,
     "INSERT INTO document_head SELECT * FROM unnest(?, ?, ?, ?, ?)"
     " ON CONFLICT (kind, name) DO UPDATE SET version = excluded.version,"
     " dropped = excluded.dropped, record = excluded.record",
     "UPDATE document_head h SET dropped = 1 FROM unnest(?, ?) AS d (kind, name)"
     " WHERE (h.kind, h.name) = (d.kind, d.name)"},
    {TableId::kSecret, "bb", 1,
     "INSERT INTO secret SELECT * FROM unnest(?, ?)"
     " ON CONFLICT (name) DO UPDATE SET record = excluded.record",
     "DELETE FROM secret s USING unnest(?) AS d (name) WHERE s.name = d.name"},
    {TableId::kNotice, "iib", 2,
     "INSERT INTO notice SELECT * FROM unnest(?, ?, ?)"
     " ON CONFLICT (run, visit) DO UPDATE SET record = excluded.record",
     "DELETE FROM notice n USING unnest(?, ?) AS d (run, visit)"
     " WHERE (n.run, n.visit) = (d.run, d.visit)"},
    {TableId::kFreeze, "ib", 1,
     "INSERT INTO freeze_row SELECT * FROM unnest(?, ?)"
     " ON CONFLICT (id) DO UPDATE SET record = excluded.record",
     "DELETE FROM freeze_row f USING unnest(?) AS d (id) WHERE f.id = d.id"},
    {TableId::kTrigger, "biib", 1,
     "INSERT INTO trigger_row SELECT * FROM unnest(?, ?, ?, ?)"
     " ON CONFLICT (name) DO UPDATE SET due = excluded.due, dropped = excluded.dropped,"
     " record = excluded.record",
     ""},
    // A row that grows stays what it was made as.
    {TableId::kSlot, "biiiiib", 3,
     "INSERT INTO slot SELECT * FROM unnest(?, ?, ?, ?, ?, ?, ?)"
     " ON CONFLICT (trigger_name, first, act) DO UPDATE SET last = excluded.last,"
     " record = excluded.record",
     "DELETE FROM slot s USING unnest(?, ?, ?) AS d (trigger_name, first, act)"
     " WHERE (s.trigger_name, s.first, s.act) = (d.trigger_name, d.first, d.act)"},
    {TableId::kMeta, "bib", 1,
     "INSERT INTO meta SELECT * FROM unnest(?, ?, ?)"
     " ON CONFLICT (name) DO UPDATE SET number = excluded.number, bytes = excluded.bytes",
     ""},
};

constexpr bool InOrder() {
  std::size_t at = 0;
  for (const auto& table : kTables)
    if (static_cast<std::size_t>(table.id) != at++) return false;
  return true;
}
static_assert(InOrder());

}  // namespace

std::span<const Table> Tables() { return kTables; }

}  // namespace muster::postgres
