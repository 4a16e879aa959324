#include "server/live/stream_hub.hpp"

#include <utility>

#include "base/text.hpp"
#include "server/live/stream_events.hpp"

namespace muster::server {
namespace {

// Past this a client is behind: what it missed it fetches.
constexpr std::size_t kMostUnsent = 4 << 20;

}  // namespace

StreamHub::StreamHub(LiveView& view, FindEnded find_ended, std::size_t recent)
    : view_(view), find_ended_(std::move(find_ended)), recent_(recent) {}

Result<StreamHub::Topics> StreamHub::ParseTopics(std::string_view text) {
  Topics topics;
  for (const auto part : Split(text, ',')) {
    const bool log = part.starts_with("log:");
    if (!log && !part.starts_with("run:"))
      return Fail(ErrorCode::kInvalid, "'{}' is not a topic; topics look like run:r12 or log:r12",
                  part);
    const auto id = ParseRunId(part.substr(4));
    if (!id) return Fail(id.error());
    (log ? topics.logs : topics.runs).insert(*id);
  }
  return topics;
}

void StreamHub::Subscribe(const Topics& topics, std::optional<CommitNumber> from,
                          std::shared_ptr<net::HttpExchange> exchange, std::string token) {
  exchange->BeginStream(200,
                        {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}});
  SubscriberId id = 0;
  {
    base::Lock lock(mutex_);
    id = next_++;
    subscribers_[id] = {.exchange = exchange, .topics = topics, .token = std::move(token)};
    for (const auto run : topics.runs) by_run_[run].insert(id);
    for (const auto run : topics.logs) by_log_[run].insert(id);
  }
  // Subscribed first, beginning second, and what happens meanwhile after it: told twice rather than
  // never, and never an older state after a newer one.
  exchange->Write(Beginning(topics, from));
  base::Lock lock(mutex_);
  const auto subscriber = subscribers_.find(id);
  if (subscriber == subscribers_.end()) return;
  subscriber->second.opening = false;
  if (!subscriber->second.held.empty()) exchange->Write(std::exchange(subscriber->second.held, {}));
}

std::string StreamHub::Beginning(const Topics& topics, std::optional<CommitNumber> from) {
  std::string text;
  std::vector<TaskStep> missed;
  {
    base::Lock lock(mutex_);
    if (from && !recent_.Covers(*from)) {
      for (const auto run : topics.runs) text += ResetEvent(run);
    } else if (from) {
      missed = recent_.After(*from, topics.runs);
    }
    for (const auto run : topics.logs)
      if (!silent_.contains(run)) text += GapEvent(run);
  }
  for (const auto& step : missed) text += TaskEvent(step);
  for (const auto run : topics.runs) text += Standing(run);
  return text;
}

std::string StreamHub::Standing(RunId run) const {
  if (const auto live = view_.FindRun(run))
    return RunEvent({run, live->state, live->counts, live->logs_open, live->commit});
  const auto ended = find_ended_(run);
  if (!ended) return ResetEvent(run);
  return RunEvent({run, ended->state, ended->counts, view_.LogsOpen(run), std::nullopt});
}

void StreamHub::ForEach(const Index& index, RunId run,
                        const std::function<void(Subscriber&)>& tell) {
  const auto found = index.find(run);
  if (found == index.end()) return;
  for (const auto id : found->second) tell(subscribers_.at(id));
}

void StreamHub::Write(Subscriber& subscriber, const std::string& text) {
  if (subscriber.opening)
    subscriber.held += text;
  else
    subscriber.exchange->Write(text);
}

void StreamHub::TakeNews(const std::vector<engine::News>& news) {
  for (const auto& one : news) std::visit([this](const auto& item) { TakeOne(item); }, one);
}

void StreamHub::TakeOne(const engine::RunNews& news) {
  // After the end only the count of open outputs changes; the rest is as the view last had it.
  const bool after_end = news.state == RunState::kCreated;
  const bool final = after_end || IsFinal(news.state);
  const std::string standing = after_end ? Standing(news.run) : std::string();
  base::Lock lock(mutex_);
  recent_.Reach(news.commit);
  if (news.is_new && news.counts[TaskState::kWaiting] == news.targets->size())
    silent_.insert(news.run);
  if (final) silent_.erase(news.run);
  if (!by_run_.contains(news.run)) return;
  const std::string text =
      after_end ? standing
                : RunEvent({news.run, news.state, news.counts, news.logs_open, news.commit});
  ForEach(by_run_, news.run, [&](Subscriber& subscriber) {
    if (final || subscriber.exchange->Unsent() < kMostUnsent) Write(subscriber, text);
  });
}

void StreamHub::TakeOne(const engine::TaskNews& news) {
  if (!IsFinal(news.state)) return;
  TaskStep step{.commit = news.commit,
                .run = news.task.run,
                .host = view_.HostNameOf(news.task),
                .ordinal = news.task.ordinal,
                .attempt = news.task.attempt,
                .state = news.state,
                .exit_code = news.exit_code,
                .signal = news.signal,
                .reason = news.reason};
  base::Lock lock(mutex_);
  recent_.Reach(news.commit);
  if (by_run_.contains(step.run)) {
    const std::string text = TaskEvent(step);
    ForEach(by_run_, step.run, [&](Subscriber& subscriber) {
      if (subscriber.exchange->Unsent() < kMostUnsent) Write(subscriber, text);
    });
  }
  recent_.Add(std::move(step));
}

void StreamHub::TakeOne(const engine::TokenNews& news) {
  base::Lock lock(mutex_);
  for (const auto& token : news.tokens)
    for (auto& [id, subscriber] : subscribers_)
      if (token.revoked && subscriber.token == token.name) End(subscriber);
}

void StreamHub::End(Subscriber& subscriber) {
  subscriber.exchange->End();
  subscriber.ended = true;
}

void StreamHub::TakeOutput(const std::vector<LogChunk>& chunks) {
  for (const auto& chunk : chunks) {
    const std::string host = view_.HostNameOf(chunk.task);
    base::Lock lock(mutex_);
    silent_.erase(chunk.task.run);
    if (!by_log_.contains(chunk.task.run)) continue;
    // Output may come late, when its run has ended and is not known here any more, or before it is
    // known to a new leader: who listens then reads it from where it is kept.
    const std::string text = host.empty() ? GapEvent(chunk.task.run) : LogEvent(chunk, host);
    ForEach(by_log_, chunk.task.run, [&](Subscriber& subscriber) {
      if (subscriber.exchange->Unsent() + subscriber.held.size() < kMostUnsent) {
        subscriber.behind = false;
        Write(subscriber, text);
      } else if (!std::exchange(subscriber.behind, true)) {
        Write(subscriber, GapEvent(chunk.task.run));
      }
    });
  }
}

bool StreamHub::HearOfOutput(RunId run) {
  base::Lock lock(mutex_);
  silent_.erase(run);
  return by_log_.contains(run);
}

void StreamHub::Sweep(const Usable& usable) {
  base::Lock lock(mutex_);
  for (auto it = subscribers_.begin(); it != subscribers_.end();) {
    if (usable && !usable(it->second.token)) End(it->second);
    if (!it->second.ended && !it->second.exchange->Gone()) {
      Write(it->second, ": here\n\n");
      ++it;
      continue;
    }
    const auto forget = [id = it->first](Index& index, const std::set<RunId>& runs) {
      for (const auto run : runs) {
        const auto entry = index.find(run);
        entry->second.erase(id);
        if (entry->second.empty()) index.erase(entry);
      }
    };
    forget(by_run_, it->second.topics.runs);
    forget(by_log_, it->second.topics.logs);
    it = subscribers_.erase(it);
  }
}

void StreamHub::Forget() {
  base::Lock lock(mutex_);
  for (auto& [id, subscriber] : subscribers_) End(subscriber);
  recent_.Clear();
  silent_.clear();
}

void StreamHub::Shutdown() {
  base::Lock lock(mutex_);
  for (auto& [id, subscriber] : subscribers_) subscriber.exchange->End();
  subscribers_.clear();
  by_run_.clear();
  by_log_.clear();
}

std::size_t StreamHub::Subscribers() const {
  base::Lock lock(mutex_);
  return subscribers_.size();
}

}  // namespace muster::server
