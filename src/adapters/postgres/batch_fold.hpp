#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "adapters/postgres/connection.hpp"
#include "adapters/records/rows.hpp"

namespace muster::postgres {

// How the rows of a table are written, many at once: an array for each column.
struct TableStatements {
  std::vector<records::Column> columns;  // that a row is put with
  std::string put;
  std::string drop;
};

// The changes of one table, folded: of the changes of a key the last one counts, so that all of
// them are one DELETE and one INSERT, whatever their number.
class TableFold {
 public:
  explicit TableFold(const records::Table& table);

  void Put(records::Cells row);  // key columns first
  void Drop(records::Cells key);
  // The row put last; nothing when there is none, or a drop.
  const records::Cells* Find(const records::Cells& key);
  // Adds the statements and forgets the rows.
  void Take(std::vector<Query>& queries);

 private:
  struct Entry {
    records::Cells key;
    bool drop = false;  // before the put, if there is one
    bool put = false;
    records::Cells row;
  };
  Entry& At(const records::Cells& row);
  Params ColumnsOf(std::size_t count, bool puts) const;

  const records::Table& table_;
  const TableStatements& statements_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> places_;  // in entries_, by key
};

// Turns a batch into the statements that write it, after the one that moves the fence.
class BatchFold : private records::RowSink {
 public:
  // `nodes`: those known to be in the table.
  explicit BatchFold(const std::unordered_set<std::string>& nodes);

  // kInternal: two changes of the batch contradict each other.
  Result<> Add(const Change& change);
  // The statements; `new_nodes` are in the table once they are committed.
  std::vector<Query> Take() &&;
  std::vector<std::string>& NewNodes() { return new_nodes_; }

 private:
  Result<> Put(records::TableId table, records::Cells row) override;
  Result<> Drop(records::TableId table, records::Cells key) override;
  Result<> PutTask(const TaskRecord& task) override;
  Result<> DropRun(const muster::DropRun& drop) override;
  Result<> DropAudit(std::uint64_t below) override;

  void NeedNode(const std::string& store, const std::string& boot);
  TableFold& Of(records::TableId table) { return folds_[static_cast<std::size_t>(table)]; }
  void Close();  // what was folded so far becomes statements
  void WriteUsed();

  const std::unordered_set<std::string>& nodes_;
  std::vector<TableFold> folds_;  // by TableId
  std::vector<Query> queries_;
  std::vector<std::string> new_nodes_;
  records::Used used_;
};

}  // namespace muster::postgres
