#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "ports/coordinator.hpp"

namespace muster {

// The candidates of one process. Safe from any thread.
class LocalElection {
 public:
  // `owner` tells candidates apart. kConflict when it is a candidate already.
  Result<> Enter(const void* owner, std::string name, std::function<void()> elected,
                 std::function<void()> lost) EXCLUDES(mutex_);
  void Leave(const void* owner) EXCLUDES(mutex_);
  std::string Leader() const EXCLUDES(mutex_);
  bool Leads(const void* owner) const EXCLUDES(mutex_);

  void Announce(const void* owner, Member self) EXCLUDES(mutex_);
  std::vector<Member> Members() const EXCLUDES(mutex_);
  void OnChange(const void* owner, std::function<void()> changed) EXCLUDES(mutex_);
  // Takes it off the list of members, and tells it of nothing more.
  void Forget(const void* owner) EXCLUDES(mutex_);

  // Takes the leadership from whoever holds it, as a coordination service does with a leader it no
  // longer hears of: it goes to the end of the line, and the first there is elected. Does nothing
  // while `elected` is being called.
  void Depose() EXCLUDES(mutex_);

 private:
  struct Candidate {
    const void* owner = nullptr;
    std::string name;
    std::function<void()> elected;
    std::function<void()> lost;
    bool leads = false;
    bool in_call = false;      // one of its callbacks is under way
    std::thread::id caller{};  // in this thread
  };
  using CandidatePtr = std::shared_ptr<Candidate>;  // shared by the lists and a call under way

  void ElectFirst() EXCLUDES(mutex_);
  void TellOfChange() EXCLUDES(mutex_);
  // Calls `lost` or `elected` of a candidate for whom BeginCall was called under the same lock that
  // decided it, so that Leave sees it coming.
  void BeginCall(const CandidatePtr& candidate) REQUIRES(mutex_);
  void Call(const CandidatePtr& candidate, const std::function<void()>& callback) EXCLUDES(mutex_);

  struct Seat {
    std::optional<Member> member;
    std::function<void()> changed;
  };

  mutable base::Mutex mutex_;
  base::Condition call_ended_;
  std::list<CandidatePtr> candidates_ GUARDED_BY(mutex_);  // the first leads
  std::list<CandidatePtr> calling_ GUARDED_BY(mutex_);     // those with a callback under way
  std::map<const void*, Seat> seats_ GUARDED_BY(mutex_);
};

}  // namespace muster
