// Measures how fast PostgresStore makes tasks durable: each is inserted as sent and updated as
// ended, in batches, as runs over a fleet do. Beside it the limit: the same rows, in batches of the
// same size, by bare statements over arrays, without fence, nodes or open logs. The server is a
// private one with fsync on. Prints METRIC lines.
//
//   postgres [HOSTS] [RUNS] [BATCH]
#include "support/postgres.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>

#include "adapters/postgres/connection.hpp"
#include "adapters/postgres/postgres_store.hpp"
#include "adapters/records/records.hpp"

namespace {

using namespace muster;

[[noreturn]] void Die(const Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  std::exit(1);
}

struct Size {
  std::uint32_t hosts = 10'240;
  std::uint32_t runs = 10;
  std::uint32_t batch = 512;
};

TaskRecord Sent(std::uint64_t run, std::uint32_t ordinal, CommitNumber number) {
  TaskRecord task;
  task.key = {.run = RunId(run),
              .visit = Visit(1),
              .ordinal = ordinal,
              .host = HostId(ordinal + 1),
              .attempt = Attempt(1)};
  task.sent = {1'763'200'000'000};
  task.store = "0123456789abcdef-" + std::to_string(ordinal);
  task.boot = "6f1e2d3c-0000-4000-8000-" + std::to_string(ordinal);
  task.sent_commit = number;
  task.sent_term = Term(1);
  return task;
}

void End(TaskRecord& task, CommitNumber number) {
  task.state = TaskState::kSucceeded;
  task.ended = {1'763'200'000'250};
  task.end = TaskEnd{
      .state = TaskState::kSucceeded, .started = {1'763'200'000'100}, .ended = {1'763'200'000'200}};
  task.log = {.state = LogState::kComplete,
              .bytes = 20,
              .stdout_sha256 = std::string(32, 'h'),
              .stderr_sha256 = kEmptySha256};
  task.ended_commit = number;
  task.ended_term = Term(1);
}

// Calls `write` with each batch of rows, first those that are sent, then the same as ended; seconds
// that took. One batch is on its way while the next is made, as in the engine.
template <typename Write>
double Measure(const Size& size, Write write) {
  std::uint64_t number = 0;
  std::future<void> under_way;
  const auto began = std::chrono::steady_clock::now();
  for (std::uint64_t run = 1; run <= size.runs; ++run) {
    std::vector<TaskRecord> tasks;
    for (int pass = 0; pass < 2; ++pass) {
      for (std::uint32_t first = 0; first < size.hosts; first += size.batch) {
        const CommitNumber next(++number);
        std::vector<TaskRecord> rows;
        for (std::uint32_t i = first; i < first + size.batch && i < size.hosts; ++i) {
          if (pass == 0)
            tasks.push_back(Sent(run, i, next));
          else
            End(tasks[i], next);
          rows.push_back(tasks[i]);
        }
        if (under_way.valid()) under_way.get();
        under_way = write(std::move(rows), next, pass);
      }
    }
  }
  under_way.get();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

double MeasureStore(const Size& size, const std::string& address) {
  auto store = PostgresStore::Open({.address = address});
  if (!store) Die(store.error());
  const auto fence = (*store)->TakeTerm();
  if (!fence) Die(fence.error());
  return Measure(size, [&](std::vector<TaskRecord> rows, CommitNumber number, int) {
    Batch batch;
    for (auto& row : rows) batch.changes.emplace_back(PutTask{std::move(row)});
    auto promise = std::make_shared<std::promise<void>>();
    (*store)->Commit(std::make_shared<const Batch>(std::move(batch)), fence->term, number,
                     [promise](Result<> done) {
                       if (!done) Die(done.error());
                       promise->set_value();
                     });
    return promise->get_future();
  });
}

postgres::Params ColumnsOf(const std::vector<TaskRecord>& rows) {
  std::vector<postgres::ArrayBuilder> columns(15, postgres::ArrayBuilder(postgres::kInt8));
  postgres::ArrayBuilder rest(postgres::kBytea);
  for (const auto& task : rows) {
    const std::uint64_t values[] = {task.key.run.value,
                                    task.key.visit.value,
                                    task.key.ordinal,
                                    task.key.attempt.value,
                                    task.key.host.value,
                                    static_cast<std::uint64_t>(task.state),
                                    static_cast<std::uint64_t>(task.sent.ms),
                                    task.sent_commit.value,
                                    task.sent_term.value,
                                    static_cast<std::uint64_t>(task.ended.ms),
                                    task.ended_commit.value,
                                    task.ended_term.value,
                                    task.key.host.value,
                                    static_cast<std::uint64_t>(task.log.state),
                                    task.log.bytes};
    for (std::size_t i = 0; i < columns.size(); ++i)
      columns[i].Int(static_cast<std::int64_t>(values[i]));
    rest.Bytes(records::EncodeTaskRest(task));
  }
  postgres::Params params;
  for (auto& column : columns) params.Array(postgres::kInt8Array, std::move(column).Take());
  params.Array(postgres::kByteaArray, std::move(rest).Take());
  return params;
}

constexpr const char* kInsert =
    "INSERT INTO task SELECT * FROM unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kUpdate =
    "UPDATE task t SET state = w.f, ended = w.j, ended_commit = w.k, ended_term = w.l,"
    " log_state = w.n, log_bytes = w.o, rest = w.p"
    " FROM unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " AS w (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)"
    " WHERE t.run = w.a AND t.visit = w.b AND t.ordinal = w.c AND t.attempt = w.d";

struct Raw {
  double seconds = 0;
  double insert_seconds = 0;
};

Raw MeasureRaw(const Size& size, const std::string& address) {
  // The tables are the store's own.
  auto store = PostgresStore::Open({.address = address});
  if (!store || !(*store)->TakeTerm()) std::exit(1);
  auto connection = postgres::Connection::Open({.address = address}, postgres::Purpose::kAppend);
  if (!connection) Die(connection.error());
  Raw raw;
  raw.seconds = Measure(size, [&](std::vector<TaskRecord> rows, CommitNumber, int pass) {
    auto params = ColumnsOf(rows);
    return std::async(std::launch::async, [&, params = std::move(params), pass] {
      const auto began = std::chrono::steady_clock::now();
      auto done = (*connection)->Ask(pass == 0 ? kInsert : kUpdate, params);
      if (!done) Die(done.error());
      if (pass == 0)
        raw.insert_seconds +=
            std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    });
  });
  return raw;
}

}  // namespace

int main(int argc, char** argv) {
  Size size;
  if (argc > 1) size.hosts = static_cast<std::uint32_t>(std::atoi(argv[1]));
  if (argc > 2) size.runs = static_cast<std::uint32_t>(std::atoi(argv[2]));
  if (argc > 3) size.batch = static_cast<std::uint32_t>(std::atoi(argv[3]));
  PrivatePostgres server(PrivatePostgres::Disk::kDurable);
  const double tasks = static_cast<double>(size.hosts) * size.runs;
  const Raw raw = MeasureRaw(size, server.NewSchema());
  const double store = MeasureStore(size, server.NewSchema());
  std::printf("METRIC pg_store_tasks_per_second %.0f\n", tasks / store);
  std::printf("METRIC pg_raw_tasks_per_second %.0f\n", tasks / raw.seconds);
  std::printf("METRIC pg_raw_rows_per_second %.0f\n", tasks / raw.insert_seconds);
  std::printf("METRIC pg_store_over_raw %.2f\n", raw.seconds / store);
  return 0;
}
