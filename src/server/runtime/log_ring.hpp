#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.hpp"
#include "base/mutex.hpp"
#include "base/result.hpp"

namespace muster::server {

// The server's log: lines go to stderr, and the latest stay in memory for `muster debug log`. What
// is kept in memory can be made more detailed for a while without touching what stderr gets. Safe
// from any thread.
class LogRing {
 public:
  struct Line {
    std::uint64_t number = 0;  // counts up from 1
    WallTime time;
    std::string level;
    std::string message;
  };
  struct Page {
    std::vector<Line> lines;  // oldest first
    std::uint64_t next = 0;   // ask for lines after this one
    std::uint64_t lost = 0;   // lines after the one asked for that the ring no longer holds
    std::string level;        // from which on lines are kept now
  };

  // Becomes the program's log. `level` is for stderr: debug, info, warn or error.
  static std::unique_ptr<LogRing> Install(const std::string& level, std::size_t most = 4096);
  ~LogRing();

  void SetLevel(const std::string& level) EXCLUDES(mutex_);

  // Keeps lines from `level` on, however detailed, until `until` (the system's clock). A later call
  // replaces an earlier one.
  Result<> Raise(std::string_view level, WallTime until) EXCLUDES(mutex_);

  // The newest `limit` lines after number `after` of at least `level`. kInvalid: no such level.
  Result<Page> Read(std::string_view level, std::uint64_t after, std::size_t limit)
      EXCLUDES(mutex_);

 private:
  struct Sink;
  explicit LogRing(std::size_t most) : most_(most) {}
  void Keep(Line line) EXCLUDES(mutex_);
  void Apply() REQUIRES(mutex_);
  void EndRaise() REQUIRES(mutex_);

  const std::size_t most_;
  std::shared_ptr<Sink> sink_;  // shared with spdlog's logger
  base::Mutex mutex_;
  std::deque<Line> lines_ GUARDED_BY(mutex_);
  std::uint64_t last_ GUARDED_BY(mutex_) = 0;
  std::string level_ GUARDED_BY(mutex_) = "info";
  std::string raised_ GUARDED_BY(mutex_);
  WallTime raised_until_ GUARDED_BY(mutex_);
};

}  // namespace muster::server
