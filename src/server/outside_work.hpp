#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "engine/command.hpp"
#include "engine/effects.hpp"
#include "ports/channel_source.hpp"
#include "ports/server_actions.hpp"
#include "server/failing_channels.hpp"
#include "server/worker_pool.hpp"

namespace muster::server {

// Carries out what the engine has the server do itself, and tells the engine how it went: finds the
// channel, fills secrets in, hands it to ServerActions. Whatever cannot even be begun ends as
// refused, with a reason. Safe from any thread.
class OutsideWork {
 public:
  using Submit = std::function<void(engine::Command)>;
  struct Means {
    ServerActions& actions;
    ChannelSource& channels;
    FindSecret find_secret;
    std::string public_url;  // "" when the server knows none
    // The `traceparent` that a request of this task carries; "" is none.
    std::function<std::string(const TaskKey& task)> trace = {};
    Submit submit;  // must not block
  };
  // `workers` look channels up. All of it outlives the object; the actions are stopped before it
  // goes away.
  OutsideWork(Means means, WorkerPool& workers) : means_(std::move(means)), workers_(workers) {}

  void Take(std::vector<engine::ServerOrder> orders);
  void Stop(const std::vector<TaskKey>& tasks);

 private:
  void Begin(const engine::ServerOrder& order) EXCLUDES(mutex_);
  Result<ServerAction> Prepare(const engine::ServerOrder& order);
  void CarryTrace(const TaskKey& task, HttpAction& http) const;
  // `channel`: that a notice went to; "" of a stage's work. Notices are made again and again.
  void Report(const TaskKey& task, const std::string& channel, ServerOutcome outcome)
      EXCLUDES(mutex_);
  std::optional<std::uint32_t> UnloggedBefore(const std::string& channel,
                                              const ServerOutcome& outcome) EXCLUDES(mutex_);

  Means means_;
  WorkerPool& workers_;
  base::Mutex mutex_;
  std::set<TaskKey> open_ GUARDED_BY(mutex_);  // handed to the actions
  FailingChannels failing_ GUARDED_BY(mutex_);
};

}  // namespace muster::server
