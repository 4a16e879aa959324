#include "adapters/postgres/batch_fold.hpp"

#include <algorithm>

namespace muster::postgres {
namespace {

constexpr Duration kKeysKept = std::chrono::hours(7 * 24);

// A slice: a day with a million keys must not become one long commit a week later.
constexpr const char* kDropKeys =
    "DELETE FROM idempotency_key WHERE ctid = ANY (ARRAY ("
    "SELECT ctid FROM idempotency_key WHERE created < ? ORDER BY created LIMIT 1000))";

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
  entry.put = true;
  entry.row = std::move(row);
}

void TableFold::Drop(Cells key) {
  Entry& entry = At(key);
  entry.drop = true;
  entry.put = false;
}

Cells* TableFold::Find(const Cells& key) {
  const auto found = places_.find(KeyOf(key, table_.keys));
  if (found == places_.end() || !entries_[found->second].put) return nullptr;
  return &entries_[found->second].row;
}

Params TableFold::ColumnsOf(std::string_view types, bool puts) const {
  Params params;
  for (std::size_t column = 0; column < types.size(); ++column) {
    ArrayBuilder array(types[column] == 'i' ? kInt8 : kBytea);
    for (const auto& entry : entries_)
      if (puts ? entry.put : entry.drop) AddCell(array, (puts ? entry.row : entry.key)[column]);
    const unsigned type = array.Type();
    params.Array(type, std::move(array).Take());
  }
  return params;
}

void TableFold::Take(std::vector<Query>& queries) {
  if (std::ranges::any_of(entries_, &Entry::drop))
    queries.push_back({table_.drop, ColumnsOf(table_.types.substr(0, table_.keys), false)});
  if (std::ranges::any_of(entries_, &Entry::put))
    queries.push_back({table_.put, ColumnsOf(table_.types, true)});
  entries_.clear();
  places_.clear();
}

BatchFold::BatchFold(const std::unordered_set<std::string>& nodes) : nodes_(nodes) {
  folds_.reserve(Tables().size());
  for (const auto& table : Tables()) folds_.emplace_back(table);
}

Result<> BatchFold::Add(const Change& change) {
  return std::visit([this](const auto& one) { return Put(one); }, change);
}

void BatchFold::Close() {
  for (auto& fold : folds_) fold.Take(queries_);
}

std::vector<Query> BatchFold::Take() && {
  Close();
  WriteSeen();
  return std::move(queries_);
}

void BatchFold::WriteSeen() {
  if (seen_.key_created)
    queries_.push_back({kDropKeys, Params().Int((seen_.key_created + -kKeysKept).ms)});
  for (const auto& [space, number] : seen_.runs)
    queries_.push_back(
        {"UPDATE meta SET number = ? WHERE name = 'next_run' AND number < ?"
         " AND (SELECT number FROM meta WHERE name = 'id_space') = ?",
         Params().Id(number + 1).Id(number + 1).Id(space)});
  if (seen_.host > 0)
    queries_.push_back({"UPDATE meta SET number = ? WHERE name = 'next_host' AND number < ?",
                        Params().Id(seen_.host + 1).Id(seen_.host + 1)});
  if (seen_.audit.number == 0) return;
  queries_.push_back(
      {"UPDATE meta SET bytes = ? WHERE name = 'audit_hash'"
       " AND (SELECT number FROM meta WHERE name = 'next_audit') <= ?",
       Params().Bytes(seen_.audit.hash).Id(seen_.audit.number)});
  queries_.push_back({"UPDATE meta SET number = ? WHERE name = 'next_audit' AND number < ?",
                      Params().Id(seen_.audit.number + 1).Id(seen_.audit.number + 1)});
}

// Ranges end a fold: what came before them must be there to be dropped, what comes after must not.
Result<> BatchFold::Put(const DropRun& drop) {
  Close();
  queries_.push_back({"SELECT muster_drop_run(?, ?)", Params().Id(drop.run.value).Int(drop.most)});
  return {};
}

Result<> BatchFold::Put(const DropAudit& drop) {
  Close();
  queries_.push_back({"DELETE FROM audit_host WHERE number < ?", Params().Id(drop.below)});
  queries_.push_back({"DELETE FROM audit WHERE number < ?", Params().Id(drop.below)});
  return {};
}

}  // namespace muster::postgres
