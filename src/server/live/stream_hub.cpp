#include "server/live/stream_hub.hpp"

#include <utility>

#include <boost/json.hpp>

#include "base/text.hpp"

namespace muster::server {
namespace {

namespace json = boost::json;

// Past this a client is behind: what it missed it fetches.
constexpr std::size_t kMostUnsent = 4 << 20;

std::string Event(std::string_view name, std::optional<CommitNumber> id, const json::object& data) {
  std::string text;
  if (id) text += fmt::format("id: {}\n", id->value);
  return text + fmt::format("event: {}\ndata: {}\n\n", name, json::serialize(data));
}

json::object CountsJson(const TaskCounts& counts) {
  json::object object;
  for (std::size_t i = 0; i < kTaskStates; ++i)
    if (counts.by_state[i] != 0) object[Name(static_cast<TaskState>(i))] = counts.by_state[i];
  return object;
}

std::string RunEvent(RunId id, RunState state, const TaskCounts& counts, std::uint32_t logs_open,
                     CommitNumber commit) {
  return Event("run", commit,
               {{"id", FormatRunId(id)},
                {"state", Name(state)},
                {"counts", CountsJson(counts)},
                {"logs_open", logs_open},
                {"exit_code", ExitCodeOf(counts)}});
}

}  // namespace

StreamHub::StreamHub(LiveView& view, FindEnded find_ended)
    : view_(view), find_ended_(std::move(find_ended)) {}

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

void StreamHub::Subscribe(const Topics& topics, std::shared_ptr<net::HttpExchange> exchange) {
  auto subscriber = std::make_shared<Subscriber>(Subscriber{exchange, topics, false});
  exchange->BeginStream(200,
                        {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}});
  SubscriberId id = 0;
  {
    base::Lock lock(mutex_);
    id = next_++;
    subscribers_[id] = subscriber;
    for (const auto run : topics.runs) by_run_[run].insert(id);
    for (const auto run : topics.logs) by_log_[run].insert(id);
  }
  // Subscribed first, snapshot second: what happens in between is told twice rather than never.
  for (const auto run : topics.runs) Write(*subscriber, Snapshot(run));
}

std::string StreamHub::Snapshot(RunId run) const {
  if (const auto live = view_.FindRun(run))
    return RunEvent(run, live->state, live->counts, live->logs_open, live->commit);
  const auto ended = find_ended_(run);
  if (!ended) return Event("reset", std::nullopt, {{"run", FormatRunId(run)}});
  const TaskCounts counts = ended->stages.empty() ? TaskCounts{} : ended->stages.back().counts;
  return RunEvent(run, ended->state, counts, view_.LogsOpen(run), {});
}

std::vector<std::shared_ptr<StreamHub::Subscriber>> StreamHub::Wanting(RunId run, bool log) const {
  std::vector<std::shared_ptr<Subscriber>> wanting;
  const auto& index = log ? by_log_ : by_run_;
  const auto found = index.find(run);
  if (found == index.end()) return wanting;
  for (const auto id : found->second) wanting.push_back(subscribers_.at(id));
  return wanting;
}

void StreamHub::Write(Subscriber& subscriber, const std::string& text) {
  subscriber.exchange->Write(text);
}

std::string StreamHub::HostName(const TaskKey& task) {
  const auto run = view_.FindRun(task.run);
  if (!run || !run->targets || task.ordinal >= run->targets->size()) return {};
  return (*run->targets)[task.ordinal].name;
}

void StreamHub::TakeNews(const std::vector<engine::News>& news) {
  for (const auto& one : news) {
    if (const auto* run = std::get_if<engine::RunNews>(&one)) {
      std::vector<std::shared_ptr<Subscriber>> wanting;
      {
        base::Lock lock(mutex_);
        wanting = Wanting(run->run, false);
      }
      if (wanting.empty()) continue;
      // After the end only the count of open outputs changes; the rest is as the view last had it.
      const bool after_end = run->state == RunState::kCreated;
      const std::string text =
          after_end ? Snapshot(run->run)
                    : RunEvent(run->run, run->state, run->counts, run->logs_open, run->commit);
      for (const auto& subscriber : wanting)
        if (after_end || IsFinal(run->state) || subscriber->exchange->Unsent() < kMostUnsent)
          Write(*subscriber, text);
    } else if (const auto* task = std::get_if<engine::TaskNews>(&one)) {
      if (!IsFinal(task->state)) continue;
      std::vector<std::shared_ptr<Subscriber>> wanting;
      {
        base::Lock lock(mutex_);
        wanting = Wanting(task->task.run, false);
      }
      if (wanting.empty()) continue;
      const std::string text = Event("task", task->commit,
                                     {{"run", FormatRunId(task->task.run)},
                                      {"host", HostName(task->task)},
                                      {"ordinal", task->task.ordinal},
                                      {"attempt", task->task.attempt.value},
                                      {"state", Name(task->state)},
                                      {"exit_code", task->exit_code},
                                      {"signal", task->signal},
                                      {"reason", task->reason}});
      for (const auto& subscriber : wanting)
        if (subscriber->exchange->Unsent() < kMostUnsent) Write(*subscriber, text);
    }
  }
}

void StreamHub::TakeOutput(const std::vector<LogChunk>& chunks) {
  for (const auto& chunk : chunks) {
    std::vector<std::shared_ptr<Subscriber>> wanting;
    {
      base::Lock lock(mutex_);
      wanting = Wanting(chunk.task.run, true);
    }
    if (wanting.empty()) continue;
    const std::string host = HostName(chunk.task);
    const std::string text = Event("log", std::nullopt,
                                   {{"run", FormatRunId(chunk.task.run)},
                                    {"host", host},
                                    {"attempt", chunk.task.attempt.value},
                                    {"offset", chunk.offset},
                                    {"stream", Name(chunk.stream)},
                                    {"time", FormatTime(chunk.time)},
                                    {"data_base64", ToBase64(chunk.data)}});
    for (const auto& subscriber : wanting) {
      if (subscriber->exchange->Unsent() < kMostUnsent) {
        subscriber->behind = false;
        Write(*subscriber, text);
      } else if (!std::exchange(subscriber->behind, true)) {
        Write(*subscriber, Event("gap", std::nullopt, {{"run", FormatRunId(chunk.task.run)}}));
      }
    }
  }
}

void StreamHub::Sweep() {
  std::vector<std::shared_ptr<Subscriber>> alive;
  {
    base::Lock lock(mutex_);
    for (auto it = subscribers_.begin(); it != subscribers_.end();) {
      if (!it->second->exchange->Gone()) {
        alive.push_back(it->second);
        ++it;
        continue;
      }
      for (auto* index : {&by_run_, &by_log_})
        for (auto entry = index->begin(); entry != index->end();) {
          entry->second.erase(it->first);
          entry = entry->second.empty() ? index->erase(entry) : std::next(entry);
        }
      it = subscribers_.erase(it);
    }
  }
  for (const auto& subscriber : alive) Write(*subscriber, ": here\n\n");
}

void StreamHub::Shutdown() {
  base::Lock lock(mutex_);
  for (auto& [id, subscriber] : subscribers_) subscriber->exchange->End();
  subscribers_.clear();
  by_run_.clear();
  by_log_.clear();
}

std::size_t StreamHub::Subscribers() const {
  base::Lock lock(mutex_);
  return subscribers_.size();
}

}  // namespace muster::server
