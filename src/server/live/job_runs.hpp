#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/mutex.hpp"
#include "domain/records.hpp"
#include "ports/store.hpp"

namespace muster::server {

// The last run of each job. Commits bring those of this leadership; runs from before it are read
// from the store when they are first asked for, the newest kMostRead of them. Safe from any thread.
class JobRuns {
 public:
  static constexpr std::size_t kMostRead = 10'000;

  struct Last {
    RunId run;
    RunState state = RunState::kCreated;
    WallTime created;
    WallTime ended;
    std::uint32_t hosts = 0;
    TaskCounts counts;  // of its hosts; as of the end
  };

  void Take(const Batch& committed) EXCLUDES(mutex_);
  void Forget() EXCLUDES(mutex_);  // others may have written to the store

  // Reads the runs from before, once. `goes_on` is asked between two reads; its error ends the
  // reading, which the next call begins again. One call at a time.
  Result<> ReadEarlier(Store& store, const std::function<Result<>()>& goes_on) EXCLUDES(mutex_);

  std::optional<Last> Find(const std::string& job) const EXCLUDES(mutex_);
  // Runs that were created earlier were not looked at; zero: all were.
  WallTime Since() const EXCLUDES(mutex_);

 private:
  void TakeRun(const Run& run) REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  std::map<std::string, Last> by_job_ GUARDED_BY(mutex_);
  bool read_ GUARDED_BY(mutex_) = false;
  WallTime since_ GUARDED_BY(mutex_);
  std::uint64_t leadership_ GUARDED_BY(mutex_) = 0;
};

}  // namespace muster::server
