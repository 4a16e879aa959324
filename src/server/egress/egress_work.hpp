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
#include "server/egress/failing_channels.hpp"
#include "server/runtime/worker_pool.hpp"

namespace muster::server {

// Carries out what the engine has the server do itself, and tells the engine how it went: finds the
// channel, fills secrets in, hands it to ServerActions. Whatever cannot even be begun ends as
// refused, with a reason. Safe from any thread.
class OutsideWork {
 public:
  using Submit = std::function<void(engine::AnyCommand)>;
  struct Means {
    ServerActions& actions;
    ChannelSource& channels;
    FindSecret find_secret;
    std::string public_url;  // "" when the server knows none
    // The `traceparent` that a request of this task carries; "" is none.
    std::function<std::string(const TaskKey& task)> trace = {};
    // Told how each attempt to send something through a channel ended. `notice`: whose it was; none
    // of a stage's message or a test.
    std::function<void(const std::string& channel, const std::optional<TaskKey>& notice,
                       const ServerOutcome& outcome)>
        attempted = {};
    Submit submit;  // must not block
  };
  // `workers` look channels up. All of it outlives the object; the actions are stopped before it
  // goes away.
  OutsideWork(Means means, WorkerPool& workers);

  void Take(std::vector<engine::ServerOrder> orders);
  void Stop(const std::vector<TaskKey>& tasks);

  // Sends one message through a channel, for somebody who wants to see that it works: once, and
  // about no run. `done` is called once, on any thread, perhaps before this returns. May block on
  // a read. What it returns ends the test soon as kKilled or kSkipped; harmless when it ended. A
  // test that was ended so says nothing of the channel, and is not told as an attempt.
  std::function<void()> Test(const std::string& channel, std::string message,
                             ServerActions::Done done) EXCLUDES(mutex_);

 private:
  // Whom an order tells something; none of a request.
  struct Told {
    std::string channel = {};
    bool notice = false;  // and not a stage's message; notices are made again and again
  };

  void Begin(const engine::ServerOrder& order) EXCLUDES(mutex_);
  Result<ServerAction> Prepare(const engine::ServerOrder& order);
  void CarryTrace(const TaskKey& task, HttpAction& http) const;
  static Told ToldBy(const engine::ServerOrder& order);
  void Report(const TaskKey& task, const Told& told, ServerOutcome outcome) EXCLUDES(mutex_);
  void Note(const std::string& channel, const std::optional<TaskKey>& notice,
            const ServerOutcome& outcome) const;
  std::optional<std::uint32_t> UnloggedBefore(const Told& told, const ServerOutcome& outcome)
      EXCLUDES(mutex_);

  Means means_;
  WorkerPool& workers_;
  base::Mutex mutex_;
  std::set<TaskKey> open_ GUARDED_BY(mutex_);  // handed to the actions
  FailingChannels failing_ GUARDED_BY(mutex_);
  std::uint32_t next_test_ GUARDED_BY(mutex_);  // no receiver saw its number before
};

}  // namespace muster::server
