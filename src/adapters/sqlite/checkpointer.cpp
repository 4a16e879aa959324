#include "adapters/sqlite/checkpointer.hpp"

#include <sqlite3.h>

#include "adapters/sqlite/database.hpp"

namespace muster::sqlite {
namespace {

constexpr int kPassivePages = 4096;    // 16 MB
constexpr int kTruncatePages = 32768;  // 128 MB

// PASSIVE never makes a writer wait, and never catches up with one that goes on all the time: then
// the WAL grows. TRUNCATE does keep writers out, for what little PASSIVE just left over.
void Checkpoint(Database& database, int pages) {
  int left = 0;
  int done = 0;
  sqlite3_wal_checkpoint_v2(database.Handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, &left, &done);
  if (pages >= kTruncatePages)
    sqlite3_wal_checkpoint_v2(database.Handle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, &left, &done);
}

}  // namespace

Checkpointer::Checkpointer(std::filesystem::path file, std::string name)
    : file_(std::move(file)), activity_(std::move(name)), thread_([this] { Loop(); }) {}

Checkpointer::~Checkpointer() {
  {
    base::Lock lock(mutex_);
    stop_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void Checkpointer::Tell(int pages) {
  {
    base::Lock lock(mutex_);
    pages_ = pages;
  }
  if (pages >= kPassivePages) changed_.NotifyOne();
}

base::Activity::View Checkpointer::Look() const {
  auto view = activity_.Look();
  base::Lock lock(mutex_);
  view.counters = {{"wal_pages", static_cast<std::uint64_t>(pages_)}};
  return view;
}

void Checkpointer::Loop() {
  activity_.Attach();
  std::unique_ptr<Database> database;
  while (true) {
    int pages = 0;
    {
      base::Lock lock(mutex_);
      while (!stop_ && pages_ < kPassivePages) changed_.Wait(mutex_);
      if (stop_) return;
      pages = pages_;
      pages_ = 0;
    }
    const base::Activity::Work mark(activity_, "checkpoint");
    if (!database) {
      auto opened = Database::Open(file_, Database::Mode::kReadWrite);
      if (!opened) continue;  // the next growth tries again
      database = std::move(*opened);
      database->OnWal([](int) {});
    }
    Checkpoint(*database, pages);
  }
}

}  // namespace muster::sqlite
