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

#include "adapters/net/server.hpp"
#include "base/mutex.hpp"
#include "domain/log.hpp"
#include "server/live/live_view.hpp"
#include "server/live/recent_news.hpp"

namespace muster::server {

// Server-sent events: carries news and stored output to the clients that asked for them. A client
// that reads slowly never makes the server hold more than a bound: its state updates are joined,
// its log lines are replaced by one `gap`, and it fetches the rest. Safe from any thread.
class StreamHub {
 public:
  // A run that is not open any more, from the records; none when there is no such run.
  using FindEnded = std::function<std::optional<Run>(RunId)>;
  static constexpr std::size_t kRecentTasks = 32'768;

  StreamHub(LiveView& view, FindEnded find_ended, std::size_t recent = kRecentTasks);

  struct Topics {
    std::set<RunId> runs;
    std::set<RunId> logs;
  };
  // "run:r12,log:r12". kInvalid names what is wrong.
  static Result<Topics> ParseTopics(std::string_view text);

  // Answers `exchange` with a stream. First comes what the client does not know: the tasks ended
  // since commit `from` (a `reset` when they are no longer remembered), how each run stands, and a
  // `gap` for each run that wrote output before now. Then comes what happens, until the client goes
  // or its token, given by name, ends.
  void Subscribe(const Topics& topics, std::optional<CommitNumber> from,
                 std::shared_ptr<net::HttpExchange> exchange, std::string token = {});

  void TakeNews(const std::vector<engine::News>& news);
  void TakeOutput(const std::vector<LogChunk>& chunks);
  // A run has output that came elsewhere. True when somebody wants to see it: then TakeOutput it.
  bool HearOfOutput(RunId run) EXCLUDES(mutex_);

  // Sends keep-alive comments, ends streams whose token is not `usable` any more, and drops clients
  // that are gone; call about every 15 s. A revoked token's streams end with the news of it.
  using Usable = std::function<bool(const std::string& token)>;
  void Sweep(const Usable& usable = {});
  // This server does not lead any more, or begins to: every stream ends, and who comes back learns
  // that it may have missed something.
  void Forget() EXCLUDES(mutex_);
  void Shutdown();  // ends every stream
  std::size_t Subscribers() const;

 private:
  struct Subscriber {
    std::shared_ptr<net::HttpExchange> exchange;
    Topics topics;
    bool behind = false;  // a gap was told; nothing more of output until it has caught up
    bool opening = true;  // what comes meanwhile is held, to be sent after the beginning
    std::string held;
    std::string token;
    bool ended = false;  // by us; the next sweep forgets it
  };
  using SubscriberId = std::uint64_t;

  using Index = std::unordered_map<RunId, std::set<SubscriberId>>;

  void TakeOne(const engine::RunNews& news) EXCLUDES(mutex_);
  void TakeOne(const engine::TaskNews& news) EXCLUDES(mutex_);
  void TakeOne(const engine::HostNews&) {}
  void TakeOne(const engine::TokenNews& news) EXCLUDES(mutex_);
  void TakeOne(const engine::SecretNews&) {}
  std::string Beginning(const Topics& topics, std::optional<CommitNumber> from) EXCLUDES(mutex_);
  std::string Standing(RunId run) const;
  void ForEach(const Index& index, RunId run, const std::function<void(Subscriber&)>& tell)
      REQUIRES(mutex_);
  static void Write(Subscriber& subscriber, const std::string& text);
  static void End(Subscriber& subscriber);

  LiveView& view_;
  FindEnded find_ended_;
  mutable base::Mutex mutex_;
  RecentNews recent_ GUARDED_BY(mutex_);
  SubscriberId next_ GUARDED_BY(mutex_) = 1;
  std::map<SubscriberId, Subscriber> subscribers_ GUARDED_BY(mutex_);
  Index by_run_ GUARDED_BY(mutex_);
  Index by_log_ GUARDED_BY(mutex_);
  std::unordered_set<RunId> silent_ GUARDED_BY(mutex_);  // open runs without any output yet
};

}  // namespace muster::server
