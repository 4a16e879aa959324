#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "domain/records.hpp"
#include "ports/server_actions.hpp"

namespace muster::server {

// What channels took, and what they did not take so far. A notice is undelivered from its first
// failed attempt on, until the channel takes it or a newer one stands for it. Undelivered notices
// are those on record; when something was delivered is known since this server leads. Safe from any
// thread.
class ChannelBook {
 public:
  struct Undelivered {
    std::string channel;
    std::string state;  // of the run, as Notice::on names it
    WallTime made;
    std::uint32_t attempts = 0;
    WallTime next;
    std::string trouble;  // why the last attempt failed; "" when an earlier leader made it
  };
  struct Delivery {
    WallTime at;
    bool delivered = false;
    std::string reason;  // why not
  };
  struct Channel {
    std::size_t undelivered = 0;
    WallTime oldest;  // of the undelivered; zero: there are none
    std::optional<WallTime> delivered;
    std::optional<Delivery> last;  // attempt
  };
  struct Totals {
    std::size_t undelivered = 0;
    WallTime oldest;
  };

  void Take(const Batch& committed) EXCLUDES(mutex_);
  // A leadership begins with these.
  void Load(const std::vector<OpenNotice>& notices, WallTime now) EXCLUDES(mutex_);

  // How an attempt to send something through a channel ended; before the commit that says so.
  // `notice`: it was this notice's, and not a message of a stage or a test.
  void TakeAttempt(const std::string& channel, const std::optional<TaskKey>& notice,
                   const ServerOutcome& outcome, WallTime now) EXCLUDES(mutex_);

  Channel Find(const std::string& channel) const EXCLUDES(mutex_);
  Totals Sum() const EXCLUDES(mutex_);
  std::vector<Undelivered> OfRun(RunId run) const EXCLUDES(mutex_);  // oldest first, at most 100
  // Since when deliveries are known; zero: this server never led.
  WallTime Since() const EXCLUDES(mutex_);

 private:
  using Key = std::pair<RunId, Visit>;
  struct Tally {
    std::set<std::pair<WallTime, Key>> undelivered;
    std::optional<WallTime> delivered;
    std::optional<Delivery> last;
  };

  void TakeOne(const PutNotice& put) REQUIRES(mutex_);
  void TakeOne(const DropNotice& drop) REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  std::map<Key, Undelivered> undelivered_ GUARDED_BY(mutex_);
  std::set<std::pair<WallTime, Key>> by_age_ GUARDED_BY(mutex_);  // the same
  std::map<Key, std::string> trouble_ GUARDED_BY(mutex_);         // of the last attempt
  std::map<std::string, Tally> channels_ GUARDED_BY(mutex_);
  WallTime since_ GUARDED_BY(mutex_);
};

}  // namespace muster::server
