#pragma once

#include <filesystem>
#include <thread>

#include "base/activity.hpp"
#include "base/mutex.hpp"

namespace muster::sqlite {

// Moves what a database's WAL holds into the database, in a thread and with a connection of its
// own, so that no commit waits for it.
class Checkpointer {
 public:
  // `name` is shown to who asks what the server does.
  explicit Checkpointer(std::filesystem::path file, std::string name = "checkpoint");
  ~Checkpointer();  // stops the thread; a checkpoint under way ends first

  // Tells how many pages the WAL has. Cheap; safe from any thread.
  void Tell(int pages) EXCLUDES(mutex_);

  base::Activity::View Look() const EXCLUDES(mutex_);

 private:
  void Loop() EXCLUDES(mutex_);

  const std::filesystem::path file_;
  base::Activity activity_;
  mutable base::Mutex mutex_;
  base::Condition changed_;
  int pages_ GUARDED_BY(mutex_) = 0;
  bool stop_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace muster::sqlite
