#include "adapters/postgres/batch_fold.hpp"

#include <algorithm>

#include "adapters/records/records.hpp"
#include "adapters/records/sql.hpp"

namespace muster::postgres {
namespace {

using records::Cell;
using records::Cells;
using records::ColumnType;
using records::Number;
using records::TableId;

// A slice: a day with a million keys must not become one long commit a week later.
constexpr const char* kDropKeys =
    "DELETE FROM idempotency_key WHERE ctid = ANY (ARRAY ("
    "SELECT ctid FROM idempotency_key WHERE created < ? ORDER BY created LIMIT 1000))";

constexpr const char* kDropTasks =
    "DELETE FROM task WHERE ctid = ANY (ARRAY (SELECT ctid FROM task WHERE run = ? LIMIT ?))";

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

// A task is put with the store and boot of its node instead of the node's number.
std::vector<records::Column> PutColumns(const records::Table& table) {
  std::vector<records::Column> columns;
  for (const auto& column : table.columns) {
    if (table.id == TableId::kTask && column.name == "node") {
      columns.push_back({"store", ColumnType::kText});
      columns.push_back({"boot", ColumnType::kText});
    } else {
      columns.push_back(column);
    }
  }
  return columns;
}

// Made once, for all batches.
const TableStatements& StatementsOf(TableId id) {
  static const std::vector<TableStatements> all = [] {
    std::vector<TableStatements> made;
    for (const auto& table : records::Tables())
      made.push_back(
          {PutColumns(table),
           table.id == TableId::kTask ? kPutTask : PutRow(table, records::Dialect::kPostgres),
           DropRow(table, records::Dialect::kPostgres)});
    return made;
  }();
  return all[static_cast<std::size_t>(id)];
}

// Bytes that are the same for the same key, and for no other of the table.
std::string KeyOf(const Cells& row, std::size_t keys) {
  std::string key;
  for (std::size_t i = 0; i < keys; ++i) {
    if (const auto* number = std::get_if<std::int64_t>(&row[i])) {
      key.append(reinterpret_cast<const char*>(number), sizeof(*number));
    } else if (const auto* bytes = std::get_if<std::string>(&row[i])) {
      const std::size_t size = bytes->size();
      key.append(reinterpret_cast<const char*>(&size), sizeof(size));
      key += *bytes;
    }
  }
  return key;
}

void AddCell(ArrayBuilder& array, const Cell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell))
    array.Int(*number);
  else if (const auto* bytes = std::get_if<std::string>(&cell))
    array.Bytes(*bytes);
  else
    array.Null();
}

}  // namespace

TableFold::TableFold(const records::Table& table)
    : table_(table), statements_(StatementsOf(table.id)) {}

TableFold::Entry& TableFold::At(const Cells& row) {
  const auto [place, made] = places_.try_emplace(KeyOf(row, table_.keys), entries_.size());
  if (made) {
    entries_.emplace_back();
    entries_.back().key.assign(row.begin(), row.begin() + static_cast<long>(table_.keys));
  }
  return entries_[place->second];
}

void TableFold::Put(Cells row) {
  Entry& entry = At(row);
  // As the database does with a row that is there.
  if (entry.put)
    for (std::size_t i = table_.keys; i < statements_.columns.size(); ++i)
      if (statements_.columns[i].fixed) row[i] = std::move(entry.row[i]);
  entry.put = true;
  entry.row = std::move(row);
}

void TableFold::Drop(Cells key) {
  Entry& entry = At(key);
  if (!table_.dropped.empty() && entry.put) {
    entry.row[PlaceOf(table_, table_.dropped)] = Number(1);
    return;
  }
  entry.drop = true;
  entry.put = false;
}

const Cells* TableFold::Find(const Cells& key) {
  const auto found = places_.find(KeyOf(key, table_.keys));
  if (found == places_.end() || !entries_[found->second].put) return nullptr;
  return &entries_[found->second].row;
}

Params TableFold::ColumnsOf(std::size_t count, bool puts) const {
  Params params;
  for (std::size_t column = 0; column < count; ++column) {
    ArrayBuilder array(statements_.columns[column].type == ColumnType::kNumber ? kInt8 : kBytea);
    for (const auto& entry : entries_)
      if (puts ? entry.put : entry.drop) AddCell(array, (puts ? entry.row : entry.key)[column]);
    const unsigned type = array.Type();
    params.Array(type, std::move(array).Take());
  }
  return params;
}

void TableFold::Take(std::vector<Query>& queries) {
  if (std::ranges::any_of(entries_, &Entry::drop))
    queries.push_back({statements_.drop, ColumnsOf(table_.keys, false)});
  if (std::ranges::any_of(entries_, &Entry::put))
    queries.push_back({statements_.put, ColumnsOf(statements_.columns.size(), true)});
  entries_.clear();
  places_.clear();
}

BatchFold::BatchFold(const std::unordered_set<std::string>& nodes) : nodes_(nodes) {
  folds_.reserve(records::Tables().size());
  for (const auto& table : records::Tables()) folds_.emplace_back(table);
}

Result<> BatchFold::Add(const Change& change) {
  used_.Add(change);
  return records::WriteRows(change, *this);
}

void BatchFold::Close() {
  for (auto& fold : folds_) fold.Take(queries_);
}

std::vector<Query> BatchFold::Take() && {
  Close();
  WriteUsed();
  return std::move(queries_);
}

void BatchFold::WriteUsed() {
  if (used_.key_created)
    queries_.push_back({kDropKeys, Params().Int((used_.key_created + -records::kKeysKept).ms)});
  for (const auto& [space, number] : used_.runs)
    queries_.push_back(
        {"UPDATE meta SET number = ? WHERE name = 'next_run' AND number < ?"
         " AND (SELECT number FROM meta WHERE name = 'id_space') = ?",
         Params().Id(number + 1).Id(number + 1).Id(space)});
  if (used_.host > 0)
    queries_.push_back({"UPDATE meta SET number = ? WHERE name = 'next_host' AND number < ?",
                        Params().Id(used_.host + 1).Id(used_.host + 1)});
  if (used_.audit.number == 0) return;
  queries_.push_back(
      {"UPDATE meta SET bytes = ? WHERE name = 'audit_hash'"
       " AND (SELECT number FROM meta WHERE name = 'next_audit') <= ?",
       Params().Bytes(used_.audit.hash).Id(used_.audit.number)});
  queries_.push_back({"UPDATE meta SET number = ? WHERE name = 'next_audit' AND number < ?",
                      Params().Id(used_.audit.number + 1).Id(used_.audit.number + 1)});
}

void BatchFold::NeedNode(const std::string& store, const std::string& boot) {
  if (store.empty() && boot.empty()) return;
  std::string name = store;
  name.push_back('\0');
  name += boot;
  if (nodes_.contains(name)) return;
  Of(TableId::kNode).Put({store, boot});
  new_nodes_.push_back(std::move(name));
}

Result<> BatchFold::Put(TableId table, Cells row) {
  Of(table).Put(std::move(row));
  return {};
}

Result<> BatchFold::Drop(TableId table, Cells key) {
  Of(table).Drop(std::move(key));
  return {};
}

Result<> BatchFold::PutTask(const TaskRecord& task) {
  const Cells key{Number(task.key.run.value), Number(task.key.visit.value),
                  Number(task.key.ordinal), Number(task.key.attempt.value)};
  const Cell host = Number(task.key.host.value);
  if (const Cells* before = Of(TableId::kTask).Find(key); before != nullptr && (*before)[4] != host)
    return Fail(ErrorCode::kInternal, "the row of task {} belongs to another host",
                FormatTaskKey(task.key));
  NeedNode(task.store, task.boot);
  // An attempt that has not ended has no row there.
  if (IsFinal(task.state)) {
    if (task.log.state == LogState::kOpen)
      Of(TableId::kOpenLog).Put(key);
    else
      Of(TableId::kOpenLog).Drop(key);
  }
  std::string rest = records::EncodeTaskRest(task);
  Cells row = key;
  row.insert(row.end(),
             {host, static_cast<std::int64_t>(task.state), task.sent.ms,
              Number(task.sent_commit.value), Number(task.sent_term.value), task.ended.ms,
              Number(task.ended_commit.value), Number(task.ended_term.value), task.store, task.boot,
              static_cast<std::int64_t>(task.log.state), Number(task.log.bytes)});
  row.push_back(rest.empty() ? Cell() : Cell(std::move(rest)));
  Of(TableId::kTask).Put(std::move(row));
  return {};
}

// Ranges end a fold: what came before them must be there to be dropped, what comes after must not.
Result<> BatchFold::DropRun(const muster::DropRun& drop) {
  static const std::vector<std::string> of_run = records::DropOfRun(records::Dialect::kPostgres);
  Close();
  queries_.push_back({kDropTasks, Params().Id(drop.run.value).Int(drop.most)});
  for (const auto& sql : of_run)
    queries_.push_back({sql, Params().Id(drop.run.value).Id(drop.run.value)});
  return {};
}

Result<> BatchFold::DropAudit(std::uint64_t below) {
  Close();
  queries_.push_back({"DELETE FROM audit_host WHERE number < ?", Params().Id(below)});
  queries_.push_back({"DELETE FROM audit WHERE number < ?", Params().Id(below)});
  return {};
}

}  // namespace muster::postgres
