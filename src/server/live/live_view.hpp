#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/mutex.hpp"
#include "domain/records.hpp"
#include "engine/effects.hpp"
#include "server/live/heard_host.hpp"

namespace muster::server {

// What is true now, for readers: hosts and their presence, open runs with live counts. Fed by the
// engine's news after each commit, so it never shows what a crash could take back. Safe from any
// thread.
class LiveView {
 public:
  struct HostView {
    Host host;
    bool online = false;
    std::string address;
    std::uint32_t running = 0;  // tasks sent and not ended
    MonoTime heard = {};        // when it spoke last over an open link; zero: not since its Hello

    // When it was last known to be there.
    WallTime LastSeen(Now now) const;
  };
  struct RunView {
    std::shared_ptr<const Run> run;
    std::shared_ptr<const Targets> targets;
    RunState state = RunState::kRunning;
    TaskCounts counts;
    std::vector<std::pair<std::uint32_t, TaskCounts>> stages;  // that work on hosts now
    std::uint32_t logs_open = 0;
    CommitNumber commit;
    std::vector<std::uint8_t> states;  // TaskState by ordinal; only when asked for
  };
  // Called under no lock, on the thread that brought the news, after the view has it.
  using Watcher = std::function<void(const std::vector<engine::News>&)>;

  void Take(std::vector<engine::News> news);
  // A leadership begins: what was true in an earlier one may not be any more, and all that is now
  // comes as news.
  void Forget();
  void SetWatcher(Watcher watcher) {
    watcher_ = std::move(watcher);
  }  // once, before the first news

  void Heard(const std::vector<HeardHost>& hosts);

  // All hosts in natural order of their names, as one moment.
  std::vector<HostView> Hosts() const;
  std::optional<HostView> FindHost(const std::string& name) const;
  std::optional<HostId> HostIdOf(const std::string& name) const;
  // Which of these, by their names, are not known; true as long as Roster gives the same number.
  std::vector<std::size_t> Strangers(const std::vector<Host>& hosts) const;
  std::uint64_t Roster() const;  // grows whenever a name comes or goes
  struct HostCounts {
    std::size_t all = 0;
    std::size_t online = 0;
  };
  HostCounts CountHosts() const;
  // Whether a host that is revoked has this key.
  bool Revoked(const std::string& key) const;

  // An open run, or one that ended and whose output is still coming. `with_states` fills states.
  std::optional<RunView> FindRun(RunId id, bool with_states = false) const;
  // Whether the run has not ended. One that has may be here until the next news.
  bool IsOpen(RunId id) const;
  // Whether a run that the trigger started has not ended.
  bool HasOpenRun(const std::string& trigger) const;
  // The host's name as the run froze it; "" when the run is not here any more.
  std::string HostNameOf(const TaskKey& task) const;
  std::vector<RunId> OpenRuns() const;
  // Outputs of a run, open or ended, that are still coming.
  std::uint32_t LogsOpen(RunId id) const;

  // Hands the hosts to `use` without copying them, under the lock: be quick. With `names`, only
  // those that have one of them.
  using UseHosts = std::function<void(const std::vector<const Host*>& hosts,
                                      const std::function<bool(HostId)>& online)>;
  void WithHosts(const UseHosts& use,
                 const std::optional<std::set<std::string>>& names = std::nullopt) const;

 private:
  void TakeOne(const engine::RunNews& news) REQUIRES(mutex_);
  void TakeOne(const engine::TaskNews& news) REQUIRES(mutex_);
  void CountForTrigger(RunId id, const RunView& view) REQUIRES(mutex_);
  void TakeOne(const engine::HostNews& news) REQUIRES(mutex_);
  void TakeOne(const engine::TokenNews&) REQUIRES(mutex_) {}   // the authenticator's
  void TakeOne(const engine::SecretNews&) REQUIRES(mutex_) {}  // the secret book's

  mutable base::Mutex mutex_;
  std::unordered_map<HostId, HostView> hosts_ GUARDED_BY(mutex_);
  std::unordered_map<std::string, HostId> by_name_ GUARDED_BY(mutex_);
  std::uint64_t roster_ GUARDED_BY(mutex_) = 0;
  std::unordered_set<std::string> revoked_ GUARDED_BY(mutex_);  // keys of hosts_
  std::map<RunId, RunView> runs_ GUARDED_BY(mutex_);
  std::vector<RunId> ended_ GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::set<RunId>> of_trigger_ GUARDED_BY(mutex_);  // open ones
  std::unordered_map<RunId, std::uint32_t> logs_open_ GUARDED_BY(mutex_);
  Watcher watcher_;
};

}  // namespace muster::server
