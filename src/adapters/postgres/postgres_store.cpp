#include "adapters/postgres/postgres_store.hpp"

#include <algorithm>

#include "adapters/postgres/address.hpp"
#include "adapters/postgres/open_runs.hpp"
#include "adapters/postgres/reader_pool.hpp"
#include "adapters/postgres/record_writer.hpp"
#include "adapters/postgres/rows.hpp"
#include "adapters/postgres/schema.hpp"
#include "adapters/records/readers.hpp"

namespace muster {

using postgres::Connection;

namespace {

// Two may ask at once. Who asks wants to know soon whether there is an answer.
PostgresOptions ForClock(PostgresOptions options) {
  options.readers = 2;
  options.statement = std::min(options.statement, std::chrono::milliseconds(2000));
  return options;
}

// All questions that this store asks are over a session.
Connection& SessionOf(records::Queries& queries) {
  return static_cast<postgres::Queries&>(queries).connection();
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
  store->writer().Start();
  return store;
}

PostgresStore::PostgresStore(PostgresOptions options, std::span<const postgres::SchemaStep> steps)
    : RecordStore("postgres"),
      options_(std::move(options)),
      clock_options_(ForClock(options_)),
      steps_(steps),
      record_writer_(std::make_unique<postgres::RecordWriter>(options_, steps)),
      readers_(std::make_unique<postgres::ReaderPool>(options_)),
      clock_readers_(std::make_unique<postgres::ReaderPool>(clock_options_)) {}

PostgresStore::~PostgresStore() { writer().Stop(); }

std::vector<base::Activity::View> PostgresStore::Activities() {
  std::vector<base::Activity::View> views{writer().Look()};
  views.front().counters = {{"readers_out", readers_->Out()}};
  return views;
}

Result<Fence> PostgresStore::TakeTerm() {
  return writer().Ask<Fence>([this] { return record_writer_->TakeTerm(); });
}

Result<SchemaState> PostgresStore::ReadSchema() {
  return readers_->AtOneMoment<SchemaState>("read schema", [&](Connection& connection) {
    return postgres::ReadSchemaState(connection, steps_);
  });
}

Result<std::vector<std::uint64_t>> PostgresStore::Finalize(Term term) {
  return writer().Ask<std::vector<std::uint64_t>>([&] { return record_writer_->Finalize(term); });
}

void PostgresStore::Commit(std::shared_ptr<const Batch> batch, Term term, CommitNumber number,
                           CommitDone done) {
  writer().Post([this, batch = std::move(batch), term, number, done = std::move(done)](bool open) {
    if (open)
      done(record_writer_->Commit(*batch, term, number));
    else
      done(Fail(ErrorCode::kUnavailable, "postgres: commit batch {}: closing", number.value));
  });
}

Result<std::optional<WallTime>> PostgresStore::ReadClock() {
  return clock_readers_->Ask<std::optional<WallTime>>("read clock", [](Connection& connection) {
    return postgres::ReadOne<WallTime>(
        connection, "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint", {},
        [](const postgres::Row& row) -> Result<WallTime> { return WallTime{row.Int(0)}; });
  });
}

Result<std::string> PostgresStore::ReadCluster() {
  return clock_readers_->Ask<std::string>("read cluster", [](Connection& connection) {
    postgres::Queries queries(connection);
    return records::ReadCluster(queries);
  });
}

Result<> PostgresStore::Read(const char* what, Moment moment, const Reading& reading) {
  const auto read = [&](Connection& connection) -> Result<> {
    postgres::Queries queries(connection);
    return reading(queries);
  };
  return moment == Moment::kOfAll ? readers_->AtOneMoment<void>(what, read)
                                  : readers_->Ask<void>(what, read);
}

Result<std::vector<Snapshot::OpenRun>> PostgresStore::ReadOpenRuns(records::Queries& queries) {
  return postgres::ReadOpenRuns(SessionOf(queries));
}

Result<std::vector<TaskRecord>> PostgresStore::ReadOpenLogs(records::Queries& queries) {
  return postgres::ReadOpenLogs(SessionOf(queries));
}

Result<std::optional<Snapshot::OpenRun>> PostgresStore::ReadWhole(records::Queries& queries,
                                                                  RunId id) {
  return postgres::ReadWhole(SessionOf(queries), id);
}

Result<std::vector<std::optional<TaskRecord>>> PostgresStore::ReadTasks(
    records::Queries& queries, const std::vector<TaskKey>& keys) {
  return postgres::ReadTasks(SessionOf(queries), keys);
}

}  // namespace muster
