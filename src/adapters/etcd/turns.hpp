#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "ports/clock.hpp"

namespace muster::etcd {

// The candidacy of this server, and the thread its callbacks come from, one at a time: `elected`
// and `lost` in turns, `changed` in between. Talks to nobody, so that `lost` is called when the
// time is over even while every request hangs. Safe from any thread.
class Turns {
 public:
  // `idle` is called, from any thread, when a candidate may want something else than before.
  Turns(const Clock& clock, std::function<void()> idle);
  ~Turns();  // not from a callback

  // Is also told of what changed before.
  void OnChange(std::function<void()> changed) EXCLUDES(mutex_);
  void Changed() EXCLUDES(mutex_);  // have it called soon

  // kConflict when it is a candidate already.
  Result<> Enter(std::string name, std::function<void()> elected, std::function<void()> lost)
      EXCLUDES(mutex_);
  // Waits for `elected` or `lost` under way, unless called from there.
  void Leave() EXCLUDES(mutex_);

  // Whether somebody wants to lead under `name`. Each candidacy has a number of its own. Nobody
  // does while a loss is still being told: whoever lost must have stopped before it begins again.
  struct Wish {
    std::uint64_t number = 0;
    std::string name;
    bool leads = false;
  };
  std::optional<Wish> Wanted() const EXCLUDES(mutex_);

  // Candidacy `number` may lead until `until`. False when it is over, or that time is.
  bool Won(std::uint64_t number, MonoTime until) EXCLUDES(mutex_);
  // Whoever leads may do so until then. Without effect when the time before was over already: a gap
  // is a loss, however short.
  void Renewed(MonoTime until) EXCLUDES(mutex_);
  void Lost() EXCLUDES(mutex_);

  // Zero from the moment a loss is known until `elected` is called again.
  MonoTime LeadUntil() const EXCLUDES(mutex_);

 private:
  struct Candidacy {
    std::uint64_t number = 0;
    std::string name;
    std::function<void()> elected;
    std::function<void()> lost;
  };
  enum class Calling { kNothing, kElected, kLost, kChanged };

  void Run();
  // Waits for the next callback; empty when there will be none.
  std::function<void()> Next() EXCLUDES(mutex_);
  std::function<void()> Due() REQUIRES(mutex_);
  void Ended() EXCLUDES(mutex_);
  void EndIfOver() REQUIRES(mutex_);

  const Clock& clock_;
  const std::function<void()> idle_;

  mutable base::Mutex mutex_;
  base::Condition news_;
  base::Condition call_ended_;
  std::optional<Candidacy> candidacy_ GUARDED_BY(mutex_);
  std::uint64_t last_number_ GUARDED_BY(mutex_) = 0;
  bool leads_ GUARDED_BY(mutex_) = false;
  MonoTime until_ GUARDED_BY(mutex_);
  bool told_ GUARDED_BY(mutex_) = false;  // `elected` was called, `lost` not yet
  std::function<void()> changed_ GUARDED_BY(mutex_);
  bool has_changed_ GUARDED_BY(mutex_) = false;
  Calling calling_ GUARDED_BY(mutex_) = Calling::kNothing;
  bool stop_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace muster::etcd
