#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "adapters/etcd/gateway.hpp"
#include "adapters/etcd/turns.hpp"
#include "adapters/etcd/view.hpp"
#include "base/mutex.hpp"
#include "ports/clock.hpp"
#include "ports/coordinator.hpp"

namespace muster::etcd {

// Holds this server's lease, and with it its seat among the members and the leadership: a thread
// that renews in time before all else, and in between puts, claims and gives up keys, each with one
// try. What a candidate wants it asks `turns`; what it reads it tells `view`.
class Keeper {
 public:
  struct Options {
    Keys keys;
    Duration lease;
  };

  // All of these outlive it.
  Keeper(Gateway& gateway, Options options, const Clock& clock, Turns& turns, View& view);
  ~Keeper();  // ends the lease, when etcd can be reached

  void Announce(Member self) EXCLUDES(mutex_);
  void Wake() EXCLUDES(mutex_);  // something may be to be done
  std::string Trouble() const EXCLUDES(mutex_);

 private:
  using Steady = std::chrono::steady_clock;

  void Run();
  // Sleeps until something is due; false when it shall end.
  bool Await() EXCLUDES(mutex_);
  void Work() EXCLUDES(mutex_);
  Result<> KeepLease();
  Result<> GetLease();
  // Reads what is there and renews, in this order and at one endpoint; time counts from before the
  // read. That is confirmed by a majority, so it passed through etcd's leader. A member that was
  // replaced as leader before, and does not know yet, would renew for itself alone; whoever
  // replaces it afterwards begins by giving every lease its full time again.
  Result<> Renew();
  Result<> Read();
  void LeaseIsGone();
  Result<> TakeSeat() EXCLUDES(mutex_);
  void LoseWithKey();  // when the leader's key is no longer ours
  Result<> Compete();
  Result<> Claim(const Turns::Wish& wish);
  Result<> Release(const std::string& value);
  void Learn(KeyValue news);
  Result<TxnAnswer> Txn(const std::string& body);

  Gateway& gateway_;
  const Options options_;
  const Clock& clock_;
  Turns& turns_;
  View& view_;

  // The thread's own.
  Lease lease_ = 0;
  MonoTime until_;                // the lease lasts at least so long
  Steady::time_point renewal_{};  // the next
  bool renewed_ = false;          // the last one went well
  Steady::time_point seating_{};  // not before
  Position position_;
  struct Claimed {
    std::uint64_t number = 0;  // of the candidacy
    std::string text;          // the key's value
  };
  std::optional<Claimed> claimed_;  // that the leader's key was, or may be, put for
  std::optional<Member> seated_;    // as it was put with this lease

  mutable base::Mutex mutex_;
  base::Condition news_;
  bool woken_ GUARDED_BY(mutex_) = false;
  bool stop_ GUARDED_BY(mutex_) = false;
  std::optional<Member> self_ GUARDED_BY(mutex_);
  std::string trouble_ GUARDED_BY(mutex_);
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace muster::etcd
