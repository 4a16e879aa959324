#pragma once

#include <memory>
#include <span>
#include <vector>

#include "adapters/postgres/options.hpp"
#include "adapters/records/record_store.hpp"
#include "base/activity.hpp"

namespace muster {

namespace postgres {
class ReaderPool;
class RecordWriter;
struct SchemaStep;
}  // namespace postgres

// Keeps records in a PostgreSQL database. One thread writes, in the order of the calls, and calls
// `done`; reads run in their callers' threads. Sessions are opened when they are needed: a database
// that is away makes calls kUnavailable, and they work again once it is back. Destroying it ends
// the commit under way and answers kUnavailable to those behind it.
class PostgresStore final : public records::RecordStore {
 public:
  // Does not connect yet. kInvalid: the address cannot be read. The first TakeTerm makes the
  // tables; before it reads are kUnavailable.
  static Result<std::unique_ptr<PostgresStore>> Open(PostgresOptions options);
  // With other tables than Muster's; `steps` must outlive the store.
  static Result<std::unique_ptr<PostgresStore>> Open(PostgresOptions options,
                                                     std::span<const postgres::SchemaStep> steps);
  ~PostgresStore() override;

  // What its thread does now.
  std::vector<base::Activity::View> Activities();

  // kInvalid: a newer musterd wrote the store and it was finalized since.
  Result<Fence> TakeTerm() override;
  Result<SchemaState> ReadSchema() override;
  Result<std::vector<std::uint64_t>> Finalize(Term term) override;
  void Commit(std::shared_ptr<const Batch> batch, Term term, CommitNumber number,
              CommitDone done) override;
  Result<std::optional<WallTime>> ReadClock() override;
  Result<std::string> ReadCluster() override;

 private:
  PostgresStore(PostgresOptions options, std::span<const postgres::SchemaStep> steps);

  Result<> Read(const char* what, Moment moment, const Reading& reading) override;
  Result<std::vector<Snapshot::OpenRun>> ReadOpenRuns(records::Queries& queries) override;
  Result<std::vector<TaskRecord>> ReadOpenLogs(records::Queries& queries) override;
  Result<std::optional<Snapshot::OpenRun>> ReadWhole(records::Queries& queries, RunId id) override;
  Result<std::vector<std::optional<TaskRecord>>> ReadTasks(
      records::Queries& queries, const std::vector<TaskKey>& keys) override;

  const PostgresOptions options_;
  const PostgresOptions clock_options_;
  const std::span<const postgres::SchemaStep> steps_;
  std::unique_ptr<postgres::RecordWriter> record_writer_;  // the writing thread's
  std::unique_ptr<postgres::ReaderPool> readers_;
  // For ReadClock and ReadCluster alone: whether the database answers must not depend on readers
  // that are busy.
  std::unique_ptr<postgres::ReaderPool> clock_readers_;
};

}  // namespace muster
