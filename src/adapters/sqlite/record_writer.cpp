#include "adapters/sqlite/record_writer.hpp"

#include <algorithm>

#include "adapters/records/records.hpp"

namespace muster::sqlite {
namespace {

constexpr Duration kKeysKept = std::chrono::hours(7 * 24);
constexpr std::size_t kNodesKept = 200'000;  // hosts of the largest fleet, a few boots each

// The host of a row never changes, and naming it here would make SQLite rewrite its index each
// time.
constexpr const char* kPutTask = R"(
  INSERT INTO task (run, visit, ordinal, attempt, host, state, sent, sent_commit, sent_term,
                    ended, ended_commit, ended_term, node, log_state, log_bytes, rest)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET
    state = excluded.state, sent = excluded.sent, sent_commit = excluded.sent_commit,
    sent_term = excluded.sent_term, ended = excluded.ended, ended_commit = excluded.ended_commit,
    ended_term = excluded.ended_term, node = excluded.node, log_state = excluded.log_state,
    log_bytes = excluded.log_bytes, rest = excluded.rest
  WHERE host = excluded.host)";

constexpr const char* kPutRun = R"(
  INSERT INTO run (id, state, by, created, record, whole) VALUES (?, ?, ?, ?, ?, 0)
  ON CONFLICT DO UPDATE SET state = excluded.state, by = excluded.by, created = excluded.created,
                            record = excluded.record, whole = 0)";

constexpr const char* kAddAudit = R"(
  INSERT OR REPLACE INTO audit (number, at, actor, address, act, object, detail, client, reason,
                                run, hosts, names, command, command_sha256, previous, hash)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?))";

// A slice: a day with a million keys must not become one long commit a week later.
constexpr const char* kDropKeys = R"(
  DELETE FROM idempotency_key WHERE (caller, key) IN (
    SELECT caller, key FROM idempotency_key WHERE created < ? ORDER BY created LIMIT 1000))";

constexpr const char* kDropTasks = R"(
  DELETE FROM task WHERE (run, visit, ordinal, attempt) IN (
    SELECT run, visit, ordinal, attempt FROM task WHERE run = ? LIMIT ?))";

Error Explain(Error error, CommitNumber number) {
  error.message = fmt::format("sqlite: commit batch {}: {}", number.value, error.message);
  return error;
}

}  // namespace

Result<Fence> FenceOf(Database& database) {
  auto read = database.Prepare("SELECT term, number FROM fence");
  if (!read) return Fail(read.error());
  auto row = (*read)->Step();
  Fence fence;
  if (row && *row) {
    fence.term = Term((*read)->ColumnId(0));
    fence.number = CommitNumber((*read)->ColumnId(1));
  }
  (*read)->Reset();
  if (!row) return Fail(row.error());
  if (!*row) return Fail(ErrorCode::kInternal, "the fence row is missing");
  return fence;
}

Result<std::unique_ptr<RecordWriter>> RecordWriter::Open(Database& database) {
  std::unique_ptr<RecordWriter> writer(new RecordWriter(database));
  if (auto prepared = writer->PrepareAll(); !prepared) return Fail(prepared.error());
  return writer;
}

Result<> RecordWriter::PrepareAll() {
  const std::pair<Statement**, const char*> all[] = {
      {&begin_, "BEGIN IMMEDIATE"},
      {&commit_, "COMMIT"},
      {&move_fence_, "UPDATE fence SET number = ? WHERE term = ? AND number = ?"},
      {&put_host_, "INSERT OR REPLACE INTO host VALUES (?, ?)"},
      {&put_invite_, "INSERT OR REPLACE INTO invite VALUES (?, ?, ?)"},
      {&put_run_, kPutRun},
      {&find_old_run_, "SELECT record FROM run WHERE id = ? AND whole = 1"},
      {&put_plan_, "INSERT OR REPLACE INTO plan VALUES (?, ?)"},
      {&put_visit_, "INSERT OR REPLACE INTO visit VALUES (?, ?, ?, ?)"},
      {&put_targets_, "INSERT OR REPLACE INTO targets VALUES (?, ?)"},
      {&put_task_, kPutTask},
      {&put_key_, "INSERT OR REPLACE INTO idempotency_key VALUES (?, ?, ?, ?, ?)"},
      {&drop_keys_, kDropKeys},
      {&put_wish_, "INSERT OR REPLACE INTO wish VALUES (?, ?, ?, ?, ?, ?)"},
      {&drop_wish_,
       "DELETE FROM wish WHERE run = ? AND visit = ? AND ordinal = ? AND host = ? AND attempt = ?"},
      {&add_audit_, kAddAudit},
      {&add_audit_host_, "INSERT OR IGNORE INTO audit_host VALUES (?, ?)"},
      {&keep_audit_hash_,
       "UPDATE meta SET value = ? WHERE name = 'audit_hash'"
       " AND (SELECT value FROM meta WHERE name = 'next_audit') <= ?"},
      {&put_token_, "INSERT OR REPLACE INTO token VALUES (?, ?, ?, ?, ?, ?, ?, ?)"},
      {&drop_token_, "DELETE FROM token WHERE name = ?"},
      {&drop_tasks_, kDropTasks},
      {&drop_run_, "DELETE FROM run WHERE id = ?"},
      {&drop_plan_, "DELETE FROM plan WHERE run = ?"},
      {&drop_visits_, "DELETE FROM visit WHERE run = ?"},
      {&drop_holds_, "DELETE FROM hold WHERE run = ?"},
      {&drop_targets_, "DELETE FROM targets WHERE run = ?"},
      {&drop_wishes_, "DELETE FROM wish WHERE run = ?"},
      {&drop_invite_, "DELETE FROM invite WHERE id = ?"},
      {&drop_audit_, "DELETE FROM audit WHERE number < ?"},
      {&drop_audit_hosts_, "DELETE FROM audit_host WHERE number < ?"},
      {&raise_, "UPDATE meta SET value = ? WHERE name = ? AND value < ?"},
      {&add_node_, "INSERT OR IGNORE INTO node (store, boot) VALUES (?, ?)"},
      {&find_node_, "SELECT id FROM node WHERE store = ? AND boot = ?"},
      {&drop_host_, "DELETE FROM host WHERE id = ?"},
      {&put_pending_, "INSERT OR REPLACE INTO pending_join VALUES (?, ?)"},
      {&drop_pending_, "DELETE FROM pending_join WHERE name = ?"},
      {&put_hold_, "INSERT OR IGNORE INTO hold VALUES (?, ?, ?, ?, ?, ?)"},
      {&drop_hold_,
       "DELETE FROM hold WHERE run = ? AND visit = ? AND ordinal = ? AND host = ? AND attempt = ?"
       " AND key = ?"},
      {&put_document_, "INSERT OR REPLACE INTO document VALUES (?, ?, ?, ?)"},
      {&put_document_head_, "INSERT OR REPLACE INTO document_head VALUES (?, ?, ?, 0, ?)"},
      {&drop_document_, "UPDATE document_head SET dropped = 1 WHERE kind = ? AND name = ?"},
      {&put_secret_, "INSERT OR REPLACE INTO secret VALUES (?, ?)"},
      {&drop_secret_, "DELETE FROM secret WHERE name = ?"},
      {&put_freeze_, "INSERT OR REPLACE INTO freeze VALUES (?, ?)"},
      {&drop_freeze_, "DELETE FROM freeze WHERE id = ?"},
      {&put_notice_, "INSERT OR REPLACE INTO notice VALUES (?, ?, ?)"},
      {&drop_notice_, "DELETE FROM notice WHERE run = ? AND visit = ?"},
      {&put_trigger_,
       "INSERT INTO trigger_row (name, due, dropped, record) VALUES (?, 0, ?, ?)"
       " ON CONFLICT DO UPDATE SET dropped = excluded.dropped, record = excluded.record"},
      {&put_trigger_due_, "UPDATE trigger_row SET due = ? WHERE name = ? AND due <> ?"},
      {&put_meta_, "INSERT OR REPLACE INTO meta VALUES (?, ?)"},
      {&put_slot_,
       "INSERT INTO slot (trigger_name, first, act, last, fate, made, record)"
       " VALUES (?, ?, ?, ?, ?, ?, ?)"
       " ON CONFLICT DO UPDATE SET last = excluded.last, record = excluded.record"},
      {&drop_slot_, "DELETE FROM slot WHERE trigger_name = ? AND first = ? AND act = ?"},
  };
  for (const auto& [place, sql] : all) {
    auto prepared = database_.Prepare(sql);
    if (!prepared) return Fail(prepared.error());
    *place = *prepared;
  }
  auto space = database_.AskInt("SELECT value FROM meta WHERE name = 'id_space'");
  if (!space) return Fail(space.error());
  id_space_ = static_cast<std::uint64_t>(*space);
  return {};
}

Result<Fence> RecordWriter::TakeTerm() {
  const auto take = [this]() -> Result<Fence> {
    if (auto begun = begin_->Run(); !begun) return Fail(begun.error());
    if (auto raised = database_.Execute("UPDATE fence SET term = term + 1"); !raised)
      return Fail(raised.error());
    auto fence = FenceOf(database_);
    if (!fence) return fence;
    if (auto ended = End(); !ended) return Fail(ended.error());
    return fence;
  };
  auto fence = take();
  if (fence) return fence;
  database_.Rollback();
  return Fail(fence.error().code, "sqlite: take term: {}", fence.error().message);
}

Result<> RecordWriter::Commit(const Batch& batch, Term term, CommitNumber number) {
  auto written = Write(batch, term, number);
  if (written) return {};
  database_.Rollback();
  nodes_.clear();  // some may have been rolled back
  return Fail(Explain(written.error(), number));
}

Result<> RecordWriter::Write(const Batch& batch, Term term, CommitNumber number) {
  if (auto begun = begin_->Run(); !begun) return begun;
  auto moved = MoveFence(term, number);
  if (!moved) return Fail(moved.error());
  if (*moved) {
    if (auto written = WriteChanges(batch); !written) return written;
  }
  return End();
}

Result<bool> RecordWriter::MoveFence(Term term, CommitNumber number) {
  move_fence_->Id(number.value).Id(term.value).Id(number.value - 1);
  if (auto moved = move_fence_->Run(); !moved) return Fail(moved.error());
  if (database_.Changes() == 1) return true;
  auto fence = FenceOf(database_);
  if (!fence) return Fail(fence.error());
  if (fence->term != term)
    return Fail(ErrorCode::kFenced, "term {} holds the store, not {}", fence->term.value,
                term.value);
  if (fence->number == number) return false;
  return Fail(ErrorCode::kInternal, "the store is at batch {}", fence->number.value);
}

Result<> RecordWriter::WriteChanges(const Batch& batch) {
  Seen seen;
  for (const auto& change : batch.changes) {
    auto put = std::visit([&](const auto& one) { return Put(one, seen); }, change);
    if (!put) return put;
  }
  return WriteSeen(seen);
}

Result<> RecordWriter::WriteSeen(const Seen& seen) {
  if (seen.key_created) {
    drop_keys_->Int((seen.key_created + -kKeysKept).ms);
    if (auto dropped = drop_keys_->Run(); !dropped) return dropped;
  }
  if (auto raised = RaiseCounter("next_run", seen.run); !raised) return raised;
  if (auto raised = RaiseCounter("next_host", seen.host); !raised) return raised;
  if (seen.audit.number == 0) return {};
  keep_audit_hash_->Blob(seen.audit.hash).Id(seen.audit.number);
  if (auto kept = keep_audit_hash_->Run(); !kept) return kept;
  return RaiseCounter("next_audit", seen.audit.number);
}

Result<> RecordWriter::RaiseCounter(const char* name, std::uint64_t highest) {
  if (highest == 0) return {};
  return raise_->Id(highest + 1).Text(name).Id(highest + 1).Run();
}

Result<> RecordWriter::End() {
  auto ended = commit_->Run();
  if (ended) return {};
  if (OutcomeIsOpen(database_.Handle()))
    return Fail(ErrorCode::kTimeout, "{}", ended.error().message);
  return ended;
}

Result<std::int64_t> RecordWriter::NodeId(const std::string& store, const std::string& boot) {
  if (store.empty() && boot.empty()) return 0;
  std::string name = store;
  name.push_back('\0');
  name += boot;
  if (const auto found = nodes_.find(name); found != nodes_.end()) return found->second;
  if (auto added = add_node_->Text(store).Text(boot).Run(); !added) return Fail(added.error());
  auto row = find_node_->Text(store).Text(boot).Step();
  const std::int64_t id = row && *row ? find_node_->ColumnInt(0) : 0;
  find_node_->Reset();
  if (!row) return Fail(row.error());
  if (nodes_.size() >= kNodesKept) nodes_.clear();
  nodes_.emplace(std::move(name), id);
  return id;
}

Result<> RecordWriter::Put(const PutHost& put, Seen& seen) {
  seen.host = std::max(seen.host, put.host.id.value);
  const std::string record = records::EncodeHost(put.host);
  return put_host_->Id(put.host.id.value).Blob(record).Run();
}

Result<> RecordWriter::Put(const PutInvite& put, Seen&) {
  const std::string record = records::EncodeInvite(put.invite);
  return put_invite_->Text(put.invite.id).Int(put.invite.UsesOnRecord()).Blob(record).Run();
}

Result<> RecordWriter::Put(const PutTargets& put, Seen&) {
  const auto record = records::EncodeTargets(*put.targets);
  if (!record) return Fail(record.error());
  return put_targets_->Id(put.run.value).Blob(*record).Run();
}

Result<> RecordWriter::Put(const PutTask& put, Seen&) {
  const TaskRecord& task = put.task;
  auto node = NodeId(task.store, task.boot);
  if (!node) return Fail(node.error());
  const std::string rest = records::EncodeTaskRest(task);
  put_task_->Id(task.key.run.value).Int(task.key.visit.value).Int(task.key.ordinal);
  put_task_->Int(task.key.attempt.value).Id(task.key.host.value);
  put_task_->Int(static_cast<std::int64_t>(task.state));
  put_task_->Int(task.sent.ms).Id(task.sent_commit.value).Id(task.sent_term.value);
  put_task_->Int(task.ended.ms).Id(task.ended_commit.value).Id(task.ended_term.value);
  put_task_->Int(*node).Int(static_cast<std::int64_t>(task.log.state)).Id(task.log.bytes);
  if (rest.empty())
    put_task_->Null();
  else
    put_task_->Blob(rest);
  if (auto written = put_task_->Run(); !written) return written;
  if (database_.Changes() == 1) return {};
  return Fail(ErrorCode::kInternal, "the row of task {} belongs to another host",
              FormatTaskKey(task.key));
}

Result<> RecordWriter::Put(const PutKey& put, Seen& seen) {
  const IdempotencyKey& key = put.key;
  seen.key_created = std::max(seen.key_created, key.created);
  put_key_->Text(key.caller).Text(key.key).Blob(key.body_sha256);
  return put_key_->Id(key.run.value).Int(key.created.ms).Run();
}

Result<> RecordWriter::Put(const PutWish& put, Seen&) {
  const TaskKey& task = put.wish.task;
  const std::string record = records::EncodeWish(put.wish.wish);
  put_wish_->Id(task.run.value).Int(task.visit.value).Int(task.ordinal).Id(task.host.value);
  return put_wish_->Int(task.attempt.value).Blob(record).Run();
}

Result<> RecordWriter::Put(const DropWish& drop, Seen&) {
  const TaskKey& task = drop.task;
  drop_wish_->Id(task.run.value).Int(task.visit.value).Int(task.ordinal).Id(task.host.value);
  return drop_wish_->Int(task.attempt.value).Run();
}

Result<> RecordWriter::Put(const AddAudit& add, Seen& seen) {
  const AuditEntry& entry = add.entry;
  if (entry.number > seen.audit.number) seen.audit = {entry.number, entry.hash};
  add_audit_->Id(entry.number).Int(entry.at.ms).Text(entry.actor).Text(entry.address);
  add_audit_->Text(entry.act).Text(entry.object).Text(entry.detail);
  add_audit_->Text(entry.client).Text(entry.reason).Id(entry.run.value).Int(entry.hosts);
  add_audit_->Text(entry.names).Text(entry.command).Blob(entry.command_sha256);
  if (auto added = add_audit_->Blob(entry.previous).Blob(entry.hash).Run(); !added) return added;
  for (const auto host : add.about)
    if (auto added = add_audit_host_->Id(host.value).Id(entry.number).Run(); !added) return added;
  return {};
}

Result<> RecordWriter::Put(const PutToken& put, Seen&) {
  const Token& token = put.token;
  put_token_->Text(token.name).Blob(token.hash).Int(static_cast<std::int64_t>(token.role));
  put_token_->Text(token.created_by).Int(token.created.ms).Int(token.expires.ms);
  return put_token_->Text(token.revoked_by).Int(token.revoked.ms).Run();
}

Result<> RecordWriter::Put(const DropToken& drop, Seen&) {
  return drop_token_->Text(drop.name).Run();
}

Result<> RecordWriter::Put(const DropHost& drop, Seen&) {
  return drop_host_->Id(drop.host.value).Run();
}

Result<> RecordWriter::Put(const PutPending& put, Seen&) {
  const std::string record = records::EncodePending(put.pending);
  return put_pending_->Text(put.pending.name).Blob(record).Run();
}

Result<> RecordWriter::Put(const PutFreeze& put, Seen&) {
  const std::string record = records::EncodeFreeze(put.freeze);
  return put_freeze_->Id(put.freeze.id).Blob(record).Run();
}

Result<> RecordWriter::Put(const DropFreeze& drop, Seen&) {
  return drop_freeze_->Id(drop.id).Run();
}

Result<> RecordWriter::Put(const DropPending& drop, Seen&) {
  return drop_pending_->Text(drop.name).Run();
}

Result<> RecordWriter::Put(const DropInvite& drop, Seen&) {
  return drop_invite_->Text(drop.id).Run();
}

Result<> RecordWriter::Put(const DropAudit& drop, Seen&) {
  if (auto dropped = drop_audit_hosts_->Id(drop.below).Run(); !dropped) return dropped;
  return drop_audit_->Id(drop.below).Run();
}

}  // namespace muster::sqlite
