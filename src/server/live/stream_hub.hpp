#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "adapters/net/server.hpp"
#include "base/mutex.hpp"
#include "domain/log.hpp"
#include "server/live/live_view.hpp"

namespace muster::server {

// Server-sent events: carries news and stored output to the clients that asked for them. A client
// that reads slowly never makes the server hold more than a bound: its state updates are joined,
// its log lines are replaced by one `gap`, and it fetches the rest. Safe from any thread.
class StreamHub {
 public:
  // A run that is not open any more, from the records; none when there is no such run.
  using FindEnded = std::function<std::optional<Run>(RunId)>;
  StreamHub(LiveView& view, FindEnded find_ended);

  struct Topics {
    std::set<RunId> runs;
    std::set<RunId> logs;
  };
  // "run:r12,log:r12". kInvalid names what is wrong.
  static Result<Topics> ParseTopics(std::string_view text);

  // Answers `exchange` with a stream: first each run as it is, then what happens.
  void Subscribe(const Topics& topics, std::shared_ptr<net::HttpExchange> exchange);

  void TakeNews(const std::vector<engine::News>& news);
  void TakeOutput(const std::vector<LogChunk>& chunks);

  // Sends keep-alive comments and drops clients that are gone; call about every 15 s.
  void Sweep();
  void Shutdown();  // ends every stream
  std::size_t Subscribers() const;

 private:
  struct Subscriber {
    std::shared_ptr<net::HttpExchange> exchange;
    Topics topics;
    bool behind = false;  // a gap was told; nothing more of output until it has caught up
  };
  using SubscriberId = std::uint64_t;

  void Write(Subscriber& subscriber, const std::string& text);
  std::string Snapshot(RunId run) const;
  std::vector<std::shared_ptr<Subscriber>> Wanting(RunId run, bool log) const REQUIRES(mutex_);
  std::string HostName(const TaskKey& task);

  LiveView& view_;
  FindEnded find_ended_;
  mutable base::Mutex mutex_;
  SubscriberId next_ GUARDED_BY(mutex_) = 1;
  std::map<SubscriberId, std::shared_ptr<Subscriber>> subscribers_ GUARDED_BY(mutex_);
  std::unordered_map<RunId, std::set<SubscriberId>> by_run_ GUARDED_BY(mutex_);
  std::unordered_map<RunId, std::set<SubscriberId>> by_log_ GUARDED_BY(mutex_);
};

}  // namespace muster::server
