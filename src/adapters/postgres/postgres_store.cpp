#include "adapters/postgres/postgres_store.hpp"

#include <algorithm>
#include <future>

#include "adapters/postgres/address.hpp"
#include "adapters/postgres/audit_reader.hpp"
#include "adapters/postgres/document_rows.hpp"
#include "adapters/postgres/expired_reader.hpp"
#include "adapters/postgres/reader_pool.hpp"
#include "adapters/postgres/record_writer.hpp"
#include "adapters/postgres/rows.hpp"
#include "adapters/postgres/run_reader.hpp"
#include "adapters/postgres/schema.hpp"
#include "adapters/postgres/snapshot_reader.hpp"
#include "adapters/postgres/task_reader.hpp"
#include "adapters/postgres/trigger_rows.hpp"

namespace muster {

using postgres::Connection;

namespace {

// Two may ask at once. Who asks wants to know soon whether there is an answer.
PostgresOptions ForClock(PostgresOptions options) {
  options.readers = 2;
  options.statement = std::min(options.statement, std::chrono::milliseconds(2000));
  return options;
}

}  // namespace

Result<std::unique_ptr<PostgresStore>> PostgresStore::Open(PostgresOptions options) {
  return Open(std::move(options), postgres::ReleaseSteps());
}

Result<std::unique_ptr<PostgresStore>> PostgresStore::Open(
    PostgresOptions options, std::span<const postgres::SchemaStep> steps) {
  if (auto read = postgres::ParametersOf(options, postgres::Purpose::kRead); !read)
    return Fail(read.error());
  std::unique_ptr<PostgresStore> store(new PostgresStore(std::move(options), steps));
  store->thread_ = std::thread([raw = store.get()] { raw->Loop(); });
  return store;
}

PostgresStore::PostgresStore(PostgresOptions options, std::span<const postgres::SchemaStep> steps)
    : options_(std::move(options)),
      clock_options_(ForClock(options_)),
      steps_(steps),
      writer_(std::make_unique<postgres::RecordWriter>(options_, steps)),
      readers_(std::make_unique<postgres::ReaderPool>(options_)),
      clock_readers_(std::make_unique<postgres::ReaderPool>(clock_options_)) {}

PostgresStore::~PostgresStore() {
  std::deque<Job> left;
  {
    base::Lock lock(mutex_);
    closing_ = true;
    left.swap(jobs_);
  }
  work_.NotifyAll();
  if (thread_.joinable()) thread_.join();
  for (const auto& job : left) job(false);
}

std::vector<base::Activity::View> PostgresStore::Activities() {
  std::vector<base::Activity::View> views{activity_.Look()};
  views.front().counters = {{"readers_out", readers_->Out()}};
  base::Lock lock(mutex_);
  views.front().queued = jobs_.size();
  return views;
}

void PostgresStore::Loop() {
  activity_.Attach();
  while (true) {
    Job job;
    {
      base::Lock lock(mutex_);
      while (!closing_ && jobs_.empty()) work_.Wait(mutex_);
      if (closing_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    const base::Activity::Work mark(activity_, "commit");
    job(true);
  }
}

void PostgresStore::Post(Job job) {
  {
    base::Lock lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  work_.NotifyOne();
}

template <typename T>
Result<T> PostgresStore::AskWriter(std::function<Result<T>()> question) {
  std::promise<Result<T>> promise;
  auto answer = promise.get_future();
  Post([&](bool open) {
    promise.set_value(open ? question() : Fail(ErrorCode::kUnavailable, "postgres: closing"));
  });
  return answer.get();
}

Result<Fence> PostgresStore::TakeTerm() {
  return AskWriter<Fence>([this] { return writer_->TakeTerm(); });
}

Result<SchemaState> PostgresStore::ReadSchema() {
  return readers_->AtOneMoment<SchemaState>("read schema", [&](Connection& connection) {
    return postgres::ReadSchemaState(connection, steps_);
  });
}

Result<std::vector<std::uint64_t>> PostgresStore::Finalize(Term term) {
  return AskWriter<std::vector<std::uint64_t>>([&] { return writer_->Finalize(term); });
}

void PostgresStore::Commit(std::shared_ptr<const Batch> batch, Term term, CommitNumber number,
                           CommitDone done) {
  Post([this, batch = std::move(batch), term, number, done = std::move(done)](bool open) {
    if (open)
      done(writer_->Commit(*batch, term, number));
    else
      done(Fail(ErrorCode::kUnavailable, "postgres: commit batch {}: closing", number.value));
  });
}

Result<Snapshot> PostgresStore::Load(Term term) {
  return readers_->AtOneMoment<Snapshot>(
      "load", [&](Connection& connection) { return postgres::ReadSnapshot(connection, term); });
}

Result<std::optional<WallTime>> PostgresStore::ReadClock() {
  return clock_readers_->Ask<std::optional<WallTime>>("read clock", [](Connection& connection) {
    return postgres::ReadOne<WallTime>(
        connection, "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint", {},
        [](const postgres::Row& row) -> Result<WallTime> { return WallTime{row.Int(0)}; });
  });
}

Result<std::string> PostgresStore::ReadCluster() {
  return clock_readers_->Ask<std::string>("read cluster", postgres::ReadCluster);
}

Result<Fence> PostgresStore::ReadFence() {
  return readers_->Ask<Fence>("read fence", postgres::ReadFence);
}

Result<ReadAt<std::optional<Run>>> PostgresStore::FindRun(RunId id) {
  return readers_->Ask<ReadAt<std::optional<Run>>>(
      "find run", [&](Connection& connection) { return postgres::ReadRun(connection, id); });
}

Result<ReadAt<std::optional<Snapshot::OpenRun>>> PostgresStore::ReadWholeRun(RunId id) {
  using Whole = ReadAt<std::optional<Snapshot::OpenRun>>;
  return readers_->AtOneMoment<Whole>(
      "read whole run", [&](Connection& connection) -> Result<Whole> {
        auto fence = postgres::ReadFence(connection);
        if (!fence) return Fail(fence.error());
        auto run = postgres::ReadWholeRun(connection, id);
        if (!run) return Fail(run.error());
        return Whole{.value = std::move(*run), .commit = fence->number};
      });
}

Result<std::vector<StageVisit>> PostgresStore::ListVisits(RunId run, Visit after,
                                                          std::size_t limit) {
  return readers_->Ask<std::vector<StageVisit>>("list visits", [&](Connection& connection) {
    return postgres::ReadVisits(connection, run, after, limit);
  });
}

Result<std::shared_ptr<const Targets>> PostgresStore::FindTargets(RunId id) {
  return readers_->Ask<std::shared_ptr<const Targets>>("find targets", [&](Connection& connection) {
    return postgres::ReadTargets(connection, id);
  });
}

Result<std::vector<Run>> PostgresStore::ListRuns(const RunFilter& filter, RunId before,
                                                 std::size_t limit) {
  const auto read = [&](Connection& connection) {
    return postgres::ReadRuns(connection, filter, before, limit);
  };
  // Those of one host are walked, with several statements.
  return filter.host ? readers_->AtOneMoment<std::vector<Run>>("list runs", read)
                     : readers_->Ask<std::vector<Run>>("list runs", read);
}

Result<std::vector<TaskRecord>> PostgresStore::ListTasks(RunId run, const TaskFilter& filter,
                                                         std::optional<TaskKey> after,
                                                         std::size_t limit) {
  return readers_->Ask<std::vector<TaskRecord>>("list tasks", [&](Connection& connection) {
    return postgres::ReadTasks(connection, run, filter, after, limit);
  });
}

Result<ReadAt<std::vector<std::optional<TaskRecord>>>> PostgresStore::FindTasks(
    const std::vector<TaskKey>& keys) {
  return readers_->Ask<ReadAt<std::vector<std::optional<TaskRecord>>>>(
      "find tasks", [&](Connection& connection) { return postgres::ReadTasks(connection, keys); });
}

Result<ReadAt<std::optional<IdempotencyKey>>> PostgresStore::FindKey(std::string_view caller,
                                                                     std::string_view key) {
  return readers_->Ask<ReadAt<std::optional<IdempotencyKey>>>(
      "find key",
      [&](Connection& connection) { return postgres::ReadKey(connection, caller, key); });
}

Result<ReadAt<std::optional<Secret>>> PostgresStore::FindSecret(std::string_view name) {
  return readers_->Ask<ReadAt<std::optional<Secret>>>("find secret", [&](Connection& connection) {
    return postgres::ReadSecret(connection, name);
  });
}

Result<std::vector<Secret>> PostgresStore::ListSecrets() {
  return readers_->Ask<std::vector<Secret>>("list secrets", postgres::ReadSecrets);
}

Result<std::vector<Token>> PostgresStore::ListTokens() {
  return readers_->Ask<std::vector<Token>>("list tokens", postgres::ReadTokens);
}

Result<AuditPage> PostgresStore::ListAudit(const AuditFilter& filter, std::uint64_t before,
                                           std::size_t limit) {
  return readers_->AtOneMoment<AuditPage>("list audit", [&](Connection& connection) {
    return postgres::ReadAuditPage(connection, filter, before, limit);
  });
}

Result<std::vector<HostId>> PostgresStore::ListRemovedHosts(std::string_view name,
                                                            std::size_t limit) {
  return readers_->Ask<std::vector<HostId>>("list removed hosts", [&](Connection& connection) {
    return postgres::ReadRemovedHosts(connection, name, limit);
  });
}

Result<std::vector<AuditEntry>> PostgresStore::ReadAudit(std::uint64_t from, std::size_t limit) {
  return readers_->Ask<std::vector<AuditEntry>>("read audit", [&](Connection& connection) {
    return postgres::ReadAuditFrom(connection, from, limit);
  });
}

Result<AuditHead> PostgresStore::ReadAuditHead() {
  return readers_->Ask<AuditHead>("read audit head", postgres::ReadAuditHead);
}

Result<std::optional<Document>> PostgresStore::FindDocument(std::string_view kind,
                                                            std::string_view name,
                                                            std::uint32_t version) {
  return readers_->Ask<std::optional<Document>>("find document", [&](Connection& connection) {
    return postgres::ReadDocument(connection, kind, name, version);
  });
}

Result<std::vector<DocumentHead>> PostgresStore::ListDocumentHeads(std::string_view kind,
                                                                   std::string_view after,
                                                                   std::size_t limit) {
  return readers_->Ask<std::vector<DocumentHead>>("list documents", [&](Connection& connection) {
    return postgres::ListDocumentHeads(connection, kind, after, limit);
  });
}

Result<ReadAt<std::optional<Trigger>>> PostgresStore::FindTrigger(std::string_view name) {
  return readers_->Ask<ReadAt<std::optional<Trigger>>>("find trigger", [&](Connection& connection) {
    return postgres::ReadTrigger(connection, name);
  });
}

Result<std::vector<Trigger>> PostgresStore::ListTriggers(std::string_view after,
                                                         std::size_t limit) {
  return readers_->Ask<std::vector<Trigger>>("list triggers", [&](Connection& connection) {
    return postgres::ReadTriggers(connection, after, limit);
  });
}

Result<ReadAt<std::vector<Trigger>>> PostgresStore::DueTriggers(const DueCursor& after,
                                                                std::int64_t until,
                                                                std::size_t limit) {
  return readers_->Ask<ReadAt<std::vector<Trigger>>>("due triggers", [&](Connection& connection) {
    return postgres::ReadDueTriggers(connection, after, until, limit);
  });
}

Result<std::vector<SlotRecord>> PostgresStore::ListSlots(std::string_view trigger,
                                                         const SlotFilter& filter,
                                                         std::optional<SlotCursor> before,
                                                         std::size_t limit) {
  return readers_->Ask<std::vector<SlotRecord>>("list slots", [&](Connection& connection) {
    return postgres::ReadSlots(connection, trigger, filter, before, limit);
  });
}

Result<Expired> PostgresStore::FindExpired(const Cutoffs& cutoffs, std::size_t most) {
  return readers_->AtOneMoment<Expired>("find what is old", [&](Connection& connection) {
    return postgres::ReadExpired(connection, cutoffs, most);
  });
}

}  // namespace muster
