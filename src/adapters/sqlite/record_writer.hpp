#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "adapters/records/rows.hpp"
#include "adapters/sqlite/database.hpp"
#include "ports/store.hpp"

namespace muster::sqlite {

// Writes batches through one connection. Use from one thread.
class RecordWriter : private records::RowSink {
 public:
  static Result<std::unique_ptr<RecordWriter>> Open(Database& database);

  // As Store says.
  Result<Fence> TakeTerm();
  Result<> Commit(const Batch& batch, Term term, CommitNumber number);

 private:
  // The statements of one table.
  struct Statements {
    Statement* put = nullptr;
    Statement* drop = nullptr;
  };

  explicit RecordWriter(Database& database) : database_(database) {}
  Result<> PrepareAll();
  Result<> Write(const Batch& batch, Term term, CommitNumber number);
  Result<bool> MoveFence(Term term, CommitNumber number);  // false: the batch is there already
  Result<> WriteUsed(const records::Used& used);
  Result<> RaiseCounter(const char* name, std::uint64_t highest);
  Result<> End();  // COMMIT
  Result<std::int64_t> NodeId(const std::string& store, const std::string& boot);

  Result<> Put(records::TableId table, records::Cells row) override;
  Result<> Drop(records::TableId table, records::Cells key) override;
  Result<> PutTask(const TaskRecord& task) override;
  Result<> DropRun(const muster::DropRun& drop) override;
  Result<> DropAudit(std::uint64_t below) override;

  Database& database_;
  std::uint64_t id_space_ = 0;
  std::unordered_map<std::string, std::int64_t> nodes_;  // by store and boot
  std::vector<Statements> tables_;                       // by TableId
  Statement* begin_ = nullptr;
  Statement* commit_ = nullptr;
  Statement* move_fence_ = nullptr;
  Statement* put_task_ = nullptr;
  Statement* put_due_ = nullptr;
  Statement* find_node_ = nullptr;
  Statement* raise_ = nullptr;
  Statement* keep_audit_hash_ = nullptr;
  Statement* drop_keys_ = nullptr;
  Statement* drop_tasks_ = nullptr;
  std::vector<Statement*> drop_of_run_;  // what else belongs to a run
  Statement* drop_audit_ = nullptr;
  Statement* drop_audit_hosts_ = nullptr;
};

// Reads the fence row.
Result<Fence> FenceOf(Database& database);

}  // namespace muster::sqlite
