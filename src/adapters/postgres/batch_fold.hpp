#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "adapters/postgres/connection.hpp"
#include "adapters/postgres/tables.hpp"
#include "domain/records.hpp"

namespace muster::postgres {

// The changes of one table, folded: of the changes of a key the last one counts, so that all of
// them are one DELETE and one INSERT, whatever their number.
class TableFold {
 public:
  explicit TableFold(const Table& table) : table_(table) {}

  void Put(Cells row);  // key columns first
  void Drop(Cells key);
  Cells* Find(const Cells& key);  // the row put last; nothing when there is none, or a drop
  // Adds the statements and forgets the rows.
  void Take(std::vector<Query>& queries);

 private:
  struct Entry {
    Cells key;
    bool drop = false;  // before the put, if there is one
    bool put = false;
    Cells row;
  };
  Entry& At(const Cells& row);
  Params ColumnsOf(std::string_view types, bool puts) const;

  const Table& table_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> places_;  // in entries_, by key
};

// Turns a batch into the statements that write it, after the one that moves the fence.
class BatchFold {
 public:
  // `nodes`: those known to be in the table.
  explicit BatchFold(const std::unordered_set<std::string>& nodes);

  // kInternal: two changes of the batch contradict each other.
  Result<> Add(const Change& change);
  // The statements; `new_nodes` are in the table once they are committed.
  std::vector<Query> Take() &&;
  std::vector<std::string>& NewNodes() { return new_nodes_; }

 private:
  // Highest numbers seen; zero is none.
  struct Seen {
    std::map<std::uint64_t, std::uint64_t> runs;  // by id space
    std::uint64_t host = 0;
    AuditHead audit;
    WallTime key_created;
  };

  Result<> Put(const PutHost& put);
  Result<> Put(const PutInvite& put);
  Result<> Put(const PutRun& put);
  Result<> Put(const PutPlan& put);
  Result<> Put(const PutVisit& put);
  Result<> Put(const PutTargets& put);
  Result<> Put(const PutTask& put);
  Result<> Put(const PutKey& put);
  Result<> Put(const PutWish& put);
  Result<> Put(const DropWish& drop);
  Result<> Put(const AddAudit& add);
  Result<> Put(const PutToken& put);
  Result<> Put(const DropToken& drop);
  Result<> Put(const DropHost& drop);
  Result<> Put(const PutPending& put);
  Result<> Put(const DropPending& drop);
  Result<> Put(const DropRun& drop);
  Result<> Put(const DropInvite& drop);
  Result<> Put(const DropAudit& drop);
  Result<> Put(const PutHold& put);
  Result<> Put(const DropHold& drop);
  Result<> Put(const PutDocument& put);
  Result<> Put(const DropDocument& drop);
  Result<> Put(const PutSecret& put);
  Result<> Put(const DropSecret& drop);
  Result<> Put(const PutFreeze& put);
  Result<> Put(const DropFreeze& drop);
  Result<> Put(const PutNotice& put);
  Result<> Put(const DropNotice& drop);
  Result<> Put(const PutTrigger& put);
  Result<> Put(const PutSlot& put);
  Result<> Put(const DropSlot& drop);
  Result<> Put(const PutTriggerCounts& put);

  void NeedNode(const std::string& store, const std::string& boot);
  TableFold& Of(TableId table) { return folds_[static_cast<std::size_t>(table)]; }
  void Close();  // what was folded so far becomes statements
  void WriteSeen();

  const std::unordered_set<std::string>& nodes_;
  std::vector<TableFold> folds_;  // by TableId
  std::vector<Query> queries_;
  std::vector<std::string> new_nodes_;
  Seen seen_;
};

}  // namespace muster::postgres
