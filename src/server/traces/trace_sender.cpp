#include "server/traces/trace_sender.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <boost/json.hpp>
#include <spdlog/spdlog.h>

#include "base/text.hpp"
#include "server/traces/otlp.hpp"
#include "server/traces/trace.hpp"

namespace muster::server {
namespace {

constexpr std::size_t kMostSpans = 5000;  // about, in one request
constexpr Duration kFirstPause = std::chrono::seconds(1);
constexpr Duration kLongestPause = std::chrono::seconds(30);
constexpr Duration kPatience = std::chrono::seconds(10);    // with the collector
constexpr Duration kLastMoments = std::chrono::seconds(2);  // when the server stops

// Which share of all traces this one is below, in percent; every server says the same.
bool IsAmong(const std::string& trace, std::uint64_t percent) {
  return std::stoull(trace.substr(0, 8), nullptr, 16) % 100 < percent;
}

bool IsWanted(const Trace& trace, const TraceSettings& settings) {
  if (!trace.sampled) return false;
  return trace.failed || IsAmong(trace.id, settings.sample);
}

// As OTLP says: these mean "later", other refusals mean "never".
bool IsPassing(std::uint16_t status) {
  return status == 0 || status == 429 || status == 502 || status == 503 || status == 504;
}

}  // namespace

TraceSender::TraceSender(Store& store, std::string server, Open open)
    : store_(store), server_(std::move(server)), open_(std::move(open)) {}

TraceSender::~TraceSender() { Stop(); }

Result<TraceSender::Headers> TraceSender::ReadHeaders(const std::string& file) {
  Headers headers;
  if (file.empty()) return headers;
  std::ifstream in(file);
  if (!in)
    return Fail(ErrorCode::kNotFound, "traces.headers_file: cannot read {}: {}", file,
                std::strerror(errno));
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    const std::string_view text = Trim(line);
    if (text.empty() || text.starts_with('#')) continue;
    const auto colon = text.find(':');
    if (colon == std::string_view::npos || colon == 0)
      return Fail(ErrorCode::kInvalid, "traces.headers_file: {}:{}: expected 'Name: value'", file,
                  number);
    headers.emplace_back(Trim(text.substr(0, colon)), Trim(text.substr(colon + 1)));
  }
  return headers;
}

Result<> TraceSender::Use(const TraceSettings& settings) {
  std::shared_ptr<Way> way;
  if (!settings.url.empty()) {
    way = std::make_shared<Way>();
    way->settings = settings;
    auto headers = ReadHeaders(settings.headers_file);
    if (!headers) return Fail(headers.error());
    way->headers = std::move(*headers);
    auto actions = open_(settings);
    if (!actions) return Fail(actions.error());
    way->actions = std::move(*actions);
  }
  base::Lock lock(mutex_);
  std::swap(way_, way);  // the old one goes when the lock is released: that may take a moment
  if (!way_) queue_.clear();
  counts_.trouble.clear();
  if (way_ && !stopping_ && !thread_.joinable()) {
    ended_ = false;
    thread_ = std::thread([this] { Loop(); });
  }
  changed_.NotifyAll();
  return {};
}

void TraceSender::Take(const std::vector<engine::News>& news) {
  std::vector<Pass> ended;
  for (const auto& one : news) {
    const auto* run = std::get_if<engine::RunNews>(&one);
    if (run != nullptr && run->whole && IsFinal(run->state))
      ended.push_back({.run = run->run, .pass = run->whole->pass});
  }
  if (ended.empty()) return;
  base::Lock lock(mutex_);
  if (!way_ || stopping_) return;
  queue_.insert(queue_.end(), ended.begin(), ended.end());
  for (; queue_.size() > kMostQueued; queue_.pop_front()) ++counts_.dropped;
  changed_.NotifyAll();
}

bool TraceSender::On() const {
  base::Lock lock(mutex_);
  return way_ != nullptr;
}

TraceSender::Counts TraceSender::Count() const {
  base::Lock lock(mutex_);
  Counts counts = counts_;
  counts.queued = queue_.size();
  return counts;
}

std::shared_ptr<TraceSender::Way> TraceSender::GetWay() const {
  base::Lock lock(mutex_);
  return way_;
}

void TraceSender::Stop() {
  const auto until = std::chrono::steady_clock::now() + kLastMoments;
  std::thread thread;
  std::shared_ptr<Way> way;
  {
    base::Lock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
    while (!ended_ && std::chrono::steady_clock::now() < until) changed_.WaitUntil(mutex_, until);
    thread = std::move(thread_);
    way = way_;
  }
  if (way) way->actions->Stop();  // and so ends a request that is under way
  if (thread.joinable()) thread.join();
}

std::optional<TraceSender::Pass> TraceSender::Pop(bool wait) {
  base::Lock lock(mutex_);
  while (wait && queue_.empty() && !stopping_) changed_.Wait(mutex_);
  if (queue_.empty()) return std::nullopt;
  const Pass next = queue_.front();
  queue_.pop_front();
  return next;
}

bool TraceSender::WaitFor(Duration time) {
  const auto until = std::chrono::steady_clock::now() + time;
  base::Lock lock(mutex_);
  while (!stopping_ && std::chrono::steady_clock::now() < until) changed_.WaitUntil(mutex_, until);
  return !stopping_;
}

void TraceSender::Trouble(std::string why) {
  {
    base::Lock lock(mutex_);
    if (counts_.trouble == why) return;
    counts_.trouble = why;
  }
  if (!why.empty()) spdlog::warn("traces are not sent: {}", why);
}

TraceSender::Fate TraceSender::Send(Way& way, const std::string& body) {
  struct Answer {
    base::Mutex mutex;
    base::Condition came;
    std::optional<ServerOutcome> outcome GUARDED_BY(mutex);
  };
  HttpAction request{.method = "POST",
                     .url = way.settings.url,
                     .headers = way.headers,
                     .body = body,
                     .expect = {},
                     .outputs = {},
                     .timeout = kPatience};
  request.headers.emplace_back("Content-Type", "application/json");
  const auto answer = std::make_shared<Answer>();
  TaskKey number;
  number.run = RunId(++requests_);
  ServerAction action{.what = std::move(request)};
  for (const auto& [name, value] : way.headers)
    if (!value.empty()) action.masks.push_back(value);
  way.actions->Start(number, std::move(action), [answer](ServerOutcome outcome) {
    base::Lock lock(answer->mutex);
    answer->outcome = std::move(outcome);
    answer->came.NotifyAll();
  });
  base::Lock lock(answer->mutex);
  while (!answer->outcome) answer->came.Wait(answer->mutex);
  const ServerOutcome& outcome = *answer->outcome;
  if (outcome.state == TaskState::kSucceeded) {
    Trouble("");
    return Fate::kTaken;
  }
  Trouble(outcome.reason);
  return IsPassing(outcome.status) ? Fate::kLater : Fate::kRefused;
}

std::vector<Trace> TraceSender::Gather(const Pass& first, const TraceSettings& settings) {
  std::vector<Trace> traces;
  std::size_t spans = 0;
  std::optional<Pass> next = first;
  while (next) {
    auto trace = ReadTrace(store_, next->run, {.tasks = settings.tasks, .pass = next->pass});
    if (!trace && trace.error().code != ErrorCode::kNotFound) {
      Trouble(trace.error().message);
      if (WaitFor(kFirstPause)) continue;
    }
    if (trace && IsWanted(*trace, settings)) {
      spans += trace->spans.size();
      traces.push_back(std::move(*trace));
    }
    if (spans >= kMostSpans || traces.size() >= kMostAtOnce) break;
    next = Pop(false);
  }
  return traces;
}

void TraceSender::Deliver(std::shared_ptr<Way> way, const std::vector<Trace>& traces) {
  const std::string body = boost::json::serialize(OtlpView(traces, server_));
  for (Duration pause = kFirstPause; way; pause = std::min(pause * 2, kLongestPause)) {
    const Fate fate = Send(*way, body);
    if (fate == Fate::kLater && WaitFor(pause)) {
      way = GetWay();
      continue;
    }
    base::Lock lock(mutex_);
    (fate == Fate::kTaken ? counts_.sent : counts_.dropped) += traces.size();
    return;
  }
}

void TraceSender::Loop() {
  activity_.Attach();
  while (const auto first = Pop(true)) {
    const auto way = GetWay();
    if (!way) continue;
    const base::Activity::Work mark(activity_, "tell of runs");
    const auto traces = Gather(*first, way->settings);
    if (!traces.empty()) Deliver(way, traces);
  }
  base::Lock lock(mutex_);
  ended_ = true;
  changed_.NotifyAll();
}

}  // namespace muster::server
