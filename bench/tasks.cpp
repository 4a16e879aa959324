// Sustained durable tasks per second: the real pipeline and engine over SQLite with
// synchronous=FULL, with nodes that answer every order at once. Beside it the limit: the same rows
// inserted and updated in bare SQLite in batches of the same size, without anything around.
//
//   tasks [SECONDS] [HOSTS]

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <mutex>
#include <string>

#include <sqlite3.h>

#include "adapters/postgres/postgres_store.hpp"
#include "adapters/sqlite/sqlite_store.hpp"
#include "adapters/system/system_clock.hpp"
#include "engine/pipeline.hpp"

namespace {

using namespace muster;
using Seconds = std::chrono::duration<double>;

constexpr std::uint32_t kOpenRuns = 4;

// Nodes that start and end a task in the moment they hear of it.
class InstantNodes final : public Links {
 public:
  explicit InstantNodes(std::deque<engine::AnyCommand>& queue) : queue_(queue) {}

  void Send(std::vector<Outgoing> frames) override {
    for (auto& outgoing : frames) {
      if (outgoing.frame.orders.empty()) continue;
      engine::NodeReports reports{.link = outgoing.link, .session = 1, .reports = {}};
      for (const auto& order : outgoing.frame.orders) {
        TaskEnd end;
        end.state = TaskState::kSucceeded;
        reports.reports.push_back(
            {{.task = order.task, .kind = link::ReportKind::kEnded, .end = end, .log = {}},
             LogMark{LogState::kComplete, 0, kEmptySha256, kEmptySha256}});
      }
      queue_.push_back(std::move(reports));
    }
  }
  void Close(LinkId) override {}
  void BeginAnew(Term, const std::string&) override {}

 private:
  std::deque<engine::AnyCommand>& queue_;
};

// Drives the pipeline on this thread; commits come back from the store's.
class Driver {
 public:
  Driver(Store& store, std::uint32_t hosts)
      : nodes_(queue_),
        hosts_(hosts),
        pipeline_(store, nodes_,
                  {.reply = [](engine::Reply) {},
                   .news = [this](std::vector<engine::News> news) { Count(news); },
                   .deposed = [](const Error& why) { Die(why); },
                   .committed =
                       [this](engine::Pipeline::CommitTicket ticket, Result<> result) {
                         {
                           const std::lock_guard lock(mutex_);
                           commits_.emplace_back(ticket, std::move(result));
                         }
                         changed_.notify_one();
                       }},
                  {}) {}

  void Enrol() {
    if (const auto leads = pipeline_.Lead(clock_.Read()); !leads) Die(leads.error());
    Invite invite{
        .id = "i", .uses_left = hosts_, .expires = WallTime{INT64_MAX / 2}, .created_by = {}};
    queue_.push_back(engine::CreateInvite{{}, invite});
    auto targets = std::make_shared<Targets>();
    for (std::uint32_t i = 0; i < hosts_; ++i) {
      const std::string name = fmt::format("h{}", i + 1);
      queue_.push_back(engine::JoinHost{{}, "i", name, "key-" + name, {}});
      engine::NodeHello hello;
      hello.link = LinkId(i + 1);
      hello.key = "key-" + name;
      hello.hello.store = "store-0123456789abcdef-" + name;
      hello.hello.boot = "6f1e2d3c-0000-4000-8000-" + name;
      hello.hello.session = 1;
      queue_.push_back(std::move(hello));
      targets->push_back({HostId(i + 1), name});
    }
    targets_ = std::move(targets);
    while (!queue_.empty() || !pipeline_.Idle()) Step();
  }

  // Keeps some runs open and returns how many tasks became durable per second.
  double Measure(Seconds duration) {
    const auto began = std::chrono::steady_clock::now();
    ended_ = 0;
    Seconds elapsed{0};
    while (elapsed < duration) {
      while (pipeline_.engine()->state().runs.open.size() + starting_ < kOpenRuns) StartRun();
      Step();
      elapsed = std::chrono::steady_clock::now() - began;
    }
    return static_cast<double>(ended_) / elapsed.count();
  }

 private:
  [[noreturn]] static void Die(const Error& why) {
    std::fprintf(stderr, "%s\n", why.message.c_str());
    std::exit(1);
  }

  void StartRun() {
    engine::StartRun start;
    StageSpec stage;
    start.spec.title = "true";
    start.spec.targets = "all";
    start.spec.stages = {stage};
    start.targets = targets_;
    queue_.push_back(std::move(start));
    ++starting_;
  }

  void Count(const std::vector<engine::News>& news) {
    for (const auto& one : news) {
      if (const auto* task = std::get_if<engine::TaskNews>(&one))
        ended_ += IsFinal(task->state) ? 1 : 0;
      if (const auto* run = std::get_if<engine::RunNews>(&one);
          run != nullptr && run->is_new && starting_ > 0)
        --starting_;
    }
  }

  void Step() {
    while (pipeline_.Ready() && !queue_.empty()) {
      const engine::AnyCommand command = std::move(queue_.front());
      queue_.pop_front();
      pipeline_.Take(command, clock_.Read());
    }
    const MonoTime wake = pipeline_.Drive(clock_.Read());
    std::deque<std::pair<engine::Pipeline::CommitTicket, Result<>>> commits;
    {
      std::unique_lock lock(mutex_);
      const bool idle = queue_.empty() && wake > clock_.Read().mono;
      if (idle || !pipeline_.Ready())
        changed_.wait_for(lock, std::chrono::milliseconds(20),
                          [this] { return !commits_.empty(); });
      commits.swap(commits_);
    }
    for (auto& [ticket, result] : commits) {
      if (!result) Die(result.error());
      pipeline_.Committed(ticket, std::move(result), clock_.Read());
    }
  }

  SystemClock clock_;
  std::deque<engine::AnyCommand> queue_;
  InstantNodes nodes_;
  std::uint32_t hosts_;
  std::shared_ptr<const Targets> targets_;
  std::uint64_t ended_ = 0;
  std::size_t starting_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<engine::Pipeline::CommitTicket, Result<>>> commits_;
  engine::Pipeline pipeline_;
};

// The limit: one insert and one update a task, in transactions of 1,000 statements, nothing else.
double RawTasksPerSecond(const std::filesystem::path& folder, std::uint32_t hosts,
                         Seconds duration) {
  sqlite3* database = nullptr;
  sqlite3_open((folder / "raw.db").c_str(), &database);
  const auto run_sql = [&](const char* sql) {
    if (sqlite3_exec(database, sql, nullptr, nullptr, nullptr) != SQLITE_OK) std::exit(1);
  };
  run_sql(
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
      "CREATE TABLE "
      "task(run,visit,ordinal,attempt,host,state,sent,ended,store,boot,log,bytes,sha1,sha2,c1,t1,"
      "c2,t2,"
      "PRIMARY KEY(run,visit,ordinal,attempt)) WITHOUT ROWID; CREATE INDEX task_host ON "
      "task(host,run);");
  sqlite3_stmt* insert = nullptr;
  sqlite3_stmt* update = nullptr;
  sqlite3_prepare_v2(database,
                     "INSERT INTO task "
                     "VALUES(?1,1,?2,1,?2,2,1795000000000,0,'store-0123456789abcdef-h','6f1e2d3c-"
                     "0000-4000-8000-h',0,0,x'',x'',?1,1,0,0)",
                     -1, &insert, nullptr);
  sqlite3_prepare_v2(database,
                     "UPDATE task SET state=4,ended=1795000000100,log=1,c2=?1,t2=1 WHERE run=?1 "
                     "AND visit=1 AND ordinal=?2 AND attempt=1",
                     -1, &update, nullptr);
  const auto step = [](sqlite3_stmt* statement, std::int64_t run, std::int64_t ordinal) {
    sqlite3_bind_int64(statement, 1, run);
    sqlite3_bind_int64(statement, 2, ordinal);
    if (sqlite3_step(statement) != SQLITE_DONE) std::exit(1);
    sqlite3_reset(statement);
  };
  const auto began = std::chrono::steady_clock::now();
  std::uint64_t done = 0;
  Seconds elapsed{0};
  for (std::int64_t run = 1; elapsed < duration; ++run) {
    for (auto* statement : {insert, update}) {
      for (std::uint32_t at = 0; at < hosts; at += 1000) {
        run_sql("BEGIN IMMEDIATE");
        for (std::uint32_t i = at; i < at + 1000 && i < hosts; ++i) step(statement, run, i);
        run_sql("COMMIT");
      }
    }
    done += hosts;
    elapsed = std::chrono::steady_clock::now() - began;
  }
  sqlite3_finalize(insert);
  sqlite3_finalize(update);
  sqlite3_close(database);
  return static_cast<double>(done) / elapsed.count();
}

// The same engine on a PostgreSQL; the bare rows beside it are bench/postgres.
int MeasurePostgres(const char* address, std::uint32_t hosts, Seconds duration) {
  auto store = PostgresStore::Open({.address = address});
  if (!store) return 1;
  Driver driver(**store, hosts);
  driver.Enrol();
  std::printf("METRIC pg_tasks_per_second %.0f tasks/s\n", driver.Measure(duration));
  return 0;
}

}  // namespace

// tasks [SECONDS [HOSTS [postgres://…]]]
int main(int argc, char** argv) {
  const Seconds duration(argc > 1 ? std::atof(argv[1]) : 10);
  const std::uint32_t hosts = argc > 2 ? static_cast<std::uint32_t>(std::atoi(argv[2])) : 5000;
  if (argc > 3) return MeasurePostgres(argv[3], hosts, duration);
  std::string folder = (std::filesystem::temp_directory_path() / "muster-tasks-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  double rate = 0;
  {
    auto store = SqliteStore::Open(folder);
    if (!store) return 1;
    Driver driver(**store, hosts);
    driver.Enrol();
    rate = driver.Measure(duration);
  }
  const double raw = RawTasksPerSecond(folder, hosts, duration / 2);
  std::filesystem::remove_all(folder);
  std::printf("METRIC tasks_raw_per_second %.0f tasks/s\n", raw);
  std::printf("METRIC tasks_per_second %.0f tasks/s\n", rate);
  std::printf("METRIC tasks_to_raw_ratio %.2f x\n", rate / raw);
  return 0;
}
