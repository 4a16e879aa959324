#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "adapters/sqlite/database.hpp"
#include "ports/store.hpp"

namespace muster::sqlite {

// Writes batches through one connection. Use from one thread.
class RecordWriter {
 public:
  static Result<std::unique_ptr<RecordWriter>> Open(Database& database);

  // As Store says.
  Result<Fence> TakeTerm();
  Result<> Commit(const Batch& batch, Term term, CommitNumber number);

 private:
  // Highest numbers seen in a batch; zero is none.
  struct Seen {
    std::uint64_t run = 0;
    std::uint64_t host = 0;
    AuditHead audit;
    WallTime key_created;
  };

  explicit RecordWriter(Database& database) : database_(database) {}
  Result<> PrepareAll();
  Result<> Write(const Batch& batch, Term term, CommitNumber number);
  Result<bool> MoveFence(Term term, CommitNumber number);  // false: the batch is there already
  Result<> WriteChanges(const Batch& batch);
  Result<> WriteSeen(const Seen& seen);
  Result<> RaiseCounter(const char* name, std::uint64_t next);
  Result<> End();  // COMMIT
  // Before anything of a run is written: a row that still holds its plan is split.
  Result<> SplitOldRow(RunId run);
  Result<> WriteRun(const Run& run);
  Result<> WritePlan(RunId run, const RunSpec& plan);
  Result<> WriteVisit(RunId run, const StageVisit& visit);
  Result<std::int64_t> NodeId(const std::string& store, const std::string& boot);

  Result<> Put(const PutHost& put, Seen& seen);
  Result<> Put(const PutInvite& put, Seen& seen);
  Result<> Put(const PutRun& put, Seen& seen);
  Result<> Put(const PutPlan& put, Seen& seen);
  Result<> Put(const PutVisit& put, Seen& seen);
  Result<> Put(const PutTargets& put, Seen& seen);
  Result<> Put(const PutTask& put, Seen& seen);
  Result<> Put(const PutKey& put, Seen& seen);
  Result<> Put(const PutWish& put, Seen& seen);
  Result<> Put(const DropWish& drop, Seen& seen);
  Result<> Put(const AddAudit& add, Seen& seen);
  Result<> Put(const PutToken& put, Seen& seen);
  Result<> Put(const DropToken& drop, Seen& seen);
  Result<> Put(const DropHost& drop, Seen& seen);
  Result<> Put(const PutPending& put, Seen& seen);
  Result<> Put(const DropPending& drop, Seen& seen);
  Result<> Put(const DropRun& drop, Seen& seen);
  Result<> Put(const DropInvite& drop, Seen& seen);
  Result<> Put(const DropAudit& drop, Seen& seen);
  Result<> Put(const PutHold& put, Seen& seen);
  Result<> Put(const DropHold& drop, Seen& seen);
  Result<> Put(const PutDocument& put, Seen& seen);
  Result<> Put(const DropDocument& drop, Seen& seen);
  Result<> Put(const PutSecret& put, Seen& seen);
  Result<> Put(const DropSecret& drop, Seen& seen);
  Result<> Put(const PutFreeze& put, Seen& seen);
  Result<> Put(const DropFreeze& drop, Seen& seen);
  Result<> Put(const PutNotice& put, Seen& seen);
  Result<> Put(const DropNotice& drop, Seen& seen);
  Result<> Put(const PutTrigger& put, Seen& seen);
  Result<> Put(const PutSlot& put, Seen& seen);
  Result<> Put(const DropSlot& drop, Seen& seen);
  Result<> Put(const PutTriggerCounts& put, Seen& seen);

  Database& database_;
  std::uint64_t id_space_ = 0;
  std::unordered_map<std::string, std::int64_t> nodes_;  // by store and boot
  Statement* begin_ = nullptr;
  Statement* commit_ = nullptr;
  Statement* move_fence_ = nullptr;
  Statement* put_host_ = nullptr;
  Statement* put_invite_ = nullptr;
  Statement* put_run_ = nullptr;
  Statement* find_old_run_ = nullptr;
  Statement* put_plan_ = nullptr;
  Statement* put_visit_ = nullptr;
  Statement* put_targets_ = nullptr;
  Statement* put_task_ = nullptr;
  Statement* put_key_ = nullptr;
  Statement* drop_keys_ = nullptr;
  Statement* put_wish_ = nullptr;
  Statement* drop_wish_ = nullptr;
  Statement* add_audit_ = nullptr;
  Statement* add_audit_host_ = nullptr;
  Statement* keep_audit_hash_ = nullptr;
  Statement* put_token_ = nullptr;
  Statement* drop_token_ = nullptr;
  Statement* drop_tasks_ = nullptr;
  Statement* drop_run_ = nullptr;
  Statement* drop_plan_ = nullptr;
  Statement* drop_visits_ = nullptr;
  Statement* drop_holds_ = nullptr;
  Statement* drop_targets_ = nullptr;
  Statement* drop_wishes_ = nullptr;
  Statement* drop_invite_ = nullptr;
  Statement* drop_audit_ = nullptr;
  Statement* drop_audit_hosts_ = nullptr;
  Statement* raise_ = nullptr;
  Statement* add_node_ = nullptr;
  Statement* find_node_ = nullptr;
  Statement* drop_host_ = nullptr;
  Statement* put_pending_ = nullptr;
  Statement* drop_pending_ = nullptr;
  Statement* put_hold_ = nullptr;
  Statement* drop_hold_ = nullptr;
  Statement* put_document_ = nullptr;
  Statement* put_document_head_ = nullptr;
  Statement* drop_document_ = nullptr;
  Statement* put_secret_ = nullptr;
  Statement* drop_secret_ = nullptr;
  Statement* put_freeze_ = nullptr;
  Statement* drop_freeze_ = nullptr;
  Statement* put_notice_ = nullptr;
  Statement* drop_notice_ = nullptr;
  Statement* put_trigger_ = nullptr;
  Statement* put_trigger_due_ = nullptr;
  Statement* put_meta_ = nullptr;
  Statement* put_slot_ = nullptr;
  Statement* drop_slot_ = nullptr;
};

// Reads the fence row.
Result<Fence> FenceOf(Database& database);

}  // namespace muster::sqlite
