#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "base/mutex.hpp"
#include "ports/artifacts.hpp"
#include "ports/clock.hpp"
#include "ports/log_store.hpp"
#include "ports/store.hpp"
#include "server/keeping/disk_watch.hpp"
#include "server/keeping/last_backup.hpp"
#include "server/keeping/logs_kept.hpp"
#include "server/keeping/retention.hpp"
#include "server/leading/engine_thread.hpp"

namespace muster::server {

// Looks after the data folder, in a thread of its own: watches the room on its disk and closes the
// engine's gate `disk_low` while there is too little; drops what retention no longer keeps, slice
// by slice, each after the one before it was committed. Safe from any thread.
class Keeper {
 public:
  struct Settings {
    std::filesystem::path data;
    Retention retention;
    DiskFloor disk_floor;
    // Told at each look why there is no room for new runs, "" when there is. True: another server
    // of the cluster takes the lead, so the gate stays open.
    std::function<bool(const std::string& why)> disk_low = {};
  };
  struct Status {
    std::uint64_t disk_free = 0;
    std::uint64_t disk_total = 0;
    std::uint64_t disk_floor = 0;
    bool disk_low = false;
    bool disk_full = false;  // too little room even for output of tasks
    std::optional<LastBackup> backup;
    Retention retention;
    std::filesystem::path data;
  };

  // All must outlive it.
  Keeper(Store& store, LogStore& logs, ArtifactStore& files, EngineThread& engine,
         const Clock& clock, Settings settings);
  ~Keeper();  // stops

  void Start();
  void Stop() EXCLUDES(mutex_);

  Status GetStatus() const EXCLUDES(mutex_);  // reads the disk
  LogsKept KeptLogs() const;                  // what of tasks' output is still there

 private:
  void Loop() EXCLUDES(mutex_);
  bool WaitFor(Duration duration) EXCLUDES(mutex_);  // false: stopping
  void WatchDisk();
  void DropOld() EXCLUDES(mutex_);
  void DropLogs();
  void DropFiles() EXCLUDES(mutex_);
  void DropUploads();
  // The engine's answer; nothing when it is time to stop.
  template <typename Command>
  std::optional<Result<typename Command::Answer>> AskAndWait(Command command) EXCLUDES(mutex_);
  // False when there is nothing more to drop now.
  bool DropSlice();
  Duration Period() const;

  Store& store_;
  LogStore& logs_;
  ArtifactStore& files_;
  EngineThread& engine_;
  const Clock& clock_;
  const Settings settings_;
  DiskWatch watch_;      // the loop's own
  bool yields_ = false;  // likewise: Settings::disk_low said so last

  mutable base::Mutex mutex_;
  base::Condition changed_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace muster::server
