#pragma once

#include <filesystem>
#include <thread>

#include "base/mutex.hpp"

namespace muster::sqlite {

// Moves what a database's WAL holds into the database, in a thread and with a connection of its
// own, so that no commit waits for it.
class Checkpointer {
 public:
  explicit Checkpointer(std::filesystem::path file);
  ~Checkpointer();  // stops the thread; a checkpoint under way ends first

  // Tells how many pages the WAL has. Cheap; safe from any thread.
  void Tell(int pages) EXCLUDES(mutex_);

 private:
  void Loop() EXCLUDES(mutex_);

  const std::filesystem::path file_;
  base::Mutex mutex_;
  base::Condition changed_;
  int pages_ GUARDED_BY(mutex_) = 0;
  bool stop_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace muster::sqlite
