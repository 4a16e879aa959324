#include "adapters/sqlite/record_writer.hpp"

#include <algorithm>

#include "adapters/records/readers.hpp"
#include "adapters/records/records.hpp"
#include "adapters/records/sql.hpp"
#include "adapters/sqlite/rows.hpp"

namespace muster::sqlite {
namespace {

using records::TableId;

constexpr std::size_t kNodesKept = 200'000;  // hosts of the largest fleet, a few boots each

// By far the most rows. Its columns are bound one by one, and its host is not named: it never
// changes, and SQLite would write its index again each time.
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

// Likewise the hour of a trigger: its index is touched only when the hour is another one.
constexpr const char* kPutTrigger =
    "INSERT INTO trigger_row (name, due, dropped, record) VALUES (?, ?, ?, ?)"
    " ON CONFLICT DO UPDATE SET dropped = excluded.dropped, record = excluded.record";
constexpr const char* kPutDue = "UPDATE trigger_row SET due = ? WHERE name = ? AND due <> ?";

// A slice: a day with a million keys must not become one long commit a week later.
constexpr const char* kDropKeys = R"(
  DELETE FROM idempotency_key WHERE (caller, key) IN (
    SELECT caller, key FROM idempotency_key WHERE created < ? ORDER BY created LIMIT 1000))";

constexpr const char* kDropTasks = R"(
  DELETE FROM task WHERE (run, visit, ordinal, attempt) IN (
    SELECT run, visit, ordinal, attempt FROM task WHERE run = ? LIMIT ?))";

void Bind(Statement& statement, const records::Table& table, const records::Cells& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (const auto* number = std::get_if<std::int64_t>(&cells[i]))
      statement.Int(*number);
    else if (const auto* bytes = std::get_if<std::string>(&cells[i]))
      table.columns[i].type == records::ColumnType::kText ? statement.Text(*bytes)
                                                          : statement.Blob(*bytes);
    else
      statement.Null();
  }
}

}  // namespace

Result<Fence> FenceOf(Database& database) {
  Queries queries(database);
  return records::ReadFence(queries);
}

Result<std::unique_ptr<RecordWriter>> RecordWriter::Open(Database& database) {
  std::unique_ptr<RecordWriter> writer(new RecordWriter(database));
  if (auto prepared = writer->PrepareAll(); !prepared) return Fail(prepared.error());
  return writer;
}

Result<> RecordWriter::PrepareAll() {
  std::vector<std::pair<Statement**, std::string>> all = {
      {&begin_, "BEGIN IMMEDIATE"},
      {&commit_, "COMMIT"},
      {&move_fence_, "UPDATE fence SET number = ? WHERE term = ? AND number = ?"},
      {&put_task_, kPutTask},
      {&put_due_, kPutDue},
      {&find_node_, "SELECT id FROM node WHERE store = ? AND boot = ?"},
      {&raise_, "UPDATE meta SET number = ? WHERE name = ? AND number < ?"},
      {&keep_audit_hash_,
       "UPDATE meta SET bytes = ? WHERE name = 'audit_hash'"
       " AND (SELECT number FROM meta WHERE name = 'next_audit') <= ?"},
      {&drop_keys_, kDropKeys},
      {&drop_tasks_, kDropTasks},
      {&drop_audit_, "DELETE FROM audit WHERE number < ?"},
      {&drop_audit_hosts_, "DELETE FROM audit_host WHERE number < ?"},
  };
  tables_.resize(records::Tables().size());
  for (const auto& table : records::Tables()) {
    if (table.only_postgres) continue;
    Statements& statements = tables_[static_cast<std::size_t>(table.id)];
    all.emplace_back(&statements.put, table.id == TableId::kTrigger
                                          ? kPutTrigger
                                          : PutRow(table, records::Dialect::kSqlite));
    all.emplace_back(&statements.drop, DropRow(table, records::Dialect::kSqlite));
  }
  const auto drops = records::DropOfRun(records::Dialect::kSqlite);
  drop_of_run_.resize(drops.size());
  for (std::size_t i = 0; i < drops.size(); ++i) all.emplace_back(&drop_of_run_[i], drops[i]);
  for (const auto& [place, sql] : all) {
    auto prepared = database_.Prepare(sql);
    if (!prepared) return Fail(prepared.error());
    *place = *prepared;
  }
  auto space = database_.AskInt("SELECT number FROM meta WHERE name = 'id_space'");
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
  return Fail(written.error().code, "sqlite: commit batch {}: {}", number.value,
              written.error().message);
}

Result<> RecordWriter::Write(const Batch& batch, Term term, CommitNumber number) {
  if (auto begun = begin_->Run(); !begun) return begun;
  auto moved = MoveFence(term, number);
  if (!moved) return Fail(moved.error());
  if (!*moved) return End();
  records::Used used;
  for (const auto& change : batch.changes) {
    used.Add(change);
    if (auto written = records::WriteRows(change, *this); !written) return written;
  }
  if (auto written = WriteUsed(used); !written) return written;
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

Result<> RecordWriter::WriteUsed(const records::Used& used) {
  if (used.key_created) {
    drop_keys_->Int((used.key_created + -records::kKeysKept).ms);
    if (auto dropped = drop_keys_->Run(); !dropped) return dropped;
  }
  if (const auto run = used.runs.find(id_space_); run != used.runs.end())
    if (auto raised = RaiseCounter("next_run", run->second); !raised) return raised;
  if (auto raised = RaiseCounter("next_host", used.host); !raised) return raised;
  if (used.audit.number == 0) return {};
  keep_audit_hash_->Blob(used.audit.hash).Id(used.audit.number);
  if (auto kept = keep_audit_hash_->Run(); !kept) return kept;
  return RaiseCounter("next_audit", used.audit.number);
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
  if (auto added = Put(TableId::kNode, {store, boot}); !added) return Fail(added.error());
  auto row = find_node_->Text(store).Text(boot).Step();
  const std::int64_t id = row && *row ? find_node_->ColumnInt(0) : 0;
  find_node_->Reset();
  if (!row) return Fail(row.error());
  if (nodes_.size() >= kNodesKept) nodes_.clear();
  nodes_.emplace(std::move(name), id);
  return id;
}

Result<> RecordWriter::Put(TableId table, records::Cells row) {
  Statement& put = *tables_[static_cast<std::size_t>(table)].put;
  Bind(put, records::TableOf(table), row);
  if (auto written = put.Run(); !written || table != TableId::kTrigger) return written;
  const std::int64_t due = std::get<std::int64_t>(row[1]);
  return put_due_->Int(due).Text(std::get<std::string>(row[0])).Int(due).Run();
}

Result<> RecordWriter::Drop(TableId table, records::Cells key) {
  Statement& drop = *tables_[static_cast<std::size_t>(table)].drop;
  Bind(drop, records::TableOf(table), key);
  return drop.Run();
}

Result<> RecordWriter::PutTask(const TaskRecord& task) {
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

Result<> RecordWriter::DropRun(const muster::DropRun& drop) {
  const std::uint64_t run = drop.run.value;
  if (auto dropped = drop_tasks_->Id(run).Int(drop.most).Run(); !dropped) return dropped;
  for (Statement* statement : drop_of_run_)
    if (auto dropped = statement->Id(run).Id(run).Run(); !dropped) return dropped;
  return {};
}

Result<> RecordWriter::DropAudit(std::uint64_t below) {
  if (auto dropped = drop_audit_hosts_->Id(below).Run(); !dropped) return dropped;
  return drop_audit_->Id(below).Run();
}

}  // namespace muster::sqlite
