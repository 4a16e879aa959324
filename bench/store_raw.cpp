// Measures how fast SqliteStore makes tasks durable: each is inserted as sent and updated as ended,
// in batches, as runs over a fleet do. Prints METRIC lines.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <string>

#include "adapters/sqlite/sqlite_store.hpp"

namespace {

using namespace muster;

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

// One batch ahead of the disk, as the engine: gathers the next while one is being written.
class Committer {
 public:
  Committer(Store& store, Term term) : store_(store), term_(term) {}
  ~Committer() { Wait(); }
  CommitNumber Next() const { return CommitNumber(number_ + 1); }
  void Commit(Batch batch) {
    Wait();
    pending_ = std::make_unique<std::promise<Result<>>>();
    store_.Commit(std::make_shared<const Batch>(std::move(batch)), term_, CommitNumber(++number_),
                  [this](Result<> done) { pending_->set_value(std::move(done)); });
  }
  void Wait() {
    if (!pending_) return;
    auto done = pending_->get_future().get();
    pending_.reset();
    if (done) return;
    std::fprintf(stderr, "%s\n", done.error().message.c_str());
    std::exit(1);
  }

 private:
  Store& store_;
  Term term_;
  std::uint64_t number_ = 0;
  std::unique_ptr<std::promise<Result<>>> pending_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::uint32_t hosts = argc > 1 ? static_cast<std::uint32_t>(std::atoi(argv[1])) : 10'000;
  const std::uint32_t runs = argc > 2 ? static_cast<std::uint32_t>(std::atoi(argv[2])) : 50;
  const std::uint32_t batch_size = argc > 3 ? static_cast<std::uint32_t>(std::atoi(argv[3])) : 500;
  std::string name = (std::filesystem::temp_directory_path() / "muster-bench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return 1;
  double seconds = 0;
  {
    auto store = SqliteStore::Open(name);
    if (!store) return 1;
    const auto fence = (*store)->TakeTerm();
    if (!fence) return 1;
    Committer committer(**store, fence->term);
    const auto began = std::chrono::steady_clock::now();
    for (std::uint64_t run = 1; run <= runs; ++run) {
      std::vector<TaskRecord> tasks;
      for (int pass = 0; pass < 2; ++pass) {
        for (std::uint32_t first = 0; first < hosts; first += batch_size) {
          Batch batch;
          for (std::uint32_t i = first; i < first + batch_size && i < hosts; ++i) {
            if (pass == 0)
              tasks.push_back(Sent(run, i, committer.Next()));
            else
              End(tasks[i], committer.Next());
            batch.changes.emplace_back(PutTask{tasks[i]});
          }
          committer.Commit(std::move(batch));
        }
      }
    }
    committer.Wait();
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }
  std::filesystem::remove_all(name);
  const double tasks = static_cast<double>(hosts) * runs;
  std::printf("METRIC raw_insert_rows_per_second %.0f\n", 2 * tasks / seconds);
  std::printf("METRIC raw_tasks_per_second %.0f\n", tasks / seconds);
  return 0;
}
