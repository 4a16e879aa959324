#include "server/egress/egress_work.hpp"

#include <algorithm>
#include <cctype>
#include <random>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/text.hpp"
#include "link/frame_bounds.hpp"

namespace muster::server {
namespace {

// Of tests: no task of the engine's has it.
constexpr std::uint32_t kTestOrdinal = UINT32_MAX;

}  // namespace

OutsideWork::OutsideWork(Means means, WorkerPool& workers)
    : means_(std::move(means)), workers_(workers), next_test_(std::random_device{}()) {}

OutsideWork::Told OutsideWork::ToldBy(const engine::ServerOrder& order) {
  const auto* notify = std::get_if<NotifyAction>(&order.what);
  return notify == nullptr ? Told{} : Told{.channel = notify->channel, .notice = order.notice};
}

void OutsideWork::Take(std::vector<engine::ServerOrder> orders) {
  for (auto& order : orders) {
    const TaskKey task = order.task;
    const Told told = ToldBy(order);
    const bool posted =
        workers_.Post([this, order = std::move(order)] { Begin(order); }, "call outside");
    if (!posted)
      Report(task, told, {.state = TaskState::kSkipped, .reason = "the server is too busy"});
  }
}

void OutsideWork::Stop(const std::vector<TaskKey>& tasks) {
  for (const auto& task : tasks) means_.actions.Cancel(task);
}

void OutsideWork::Begin(const engine::ServerOrder& order) {
  {
    // A new leadership may repeat what is still under way: one answer is for both.
    base::Lock lock(mutex_);
    if (!open_.insert(order.task).second) return;
  }
  auto action = Prepare(order);
  if (!action)
    return Report(order.task, ToldBy(order),
                  {.state = TaskState::kRefused, .reason = action.error().message});
  means_.actions.Start(order.task, std::move(*action),
                       [this, task = order.task, told = ToldBy(order)](ServerOutcome done) {
                         Report(task, told, std::move(done));
                       });
}

std::function<void()> OutsideWork::Test(const std::string& channel, std::string message,
                                        ServerActions::Done done) {
  engine::ServerOrder order{.task = {RunId(), Visit(0), kTestOrdinal, HostId(), Attempt(1)},
                            .what = NotifyAction{.channel = channel, .message = std::move(message)},
                            .state = "test"};
  {
    base::Lock lock(mutex_);
    order.task.visit = Visit(next_test_++);
  }
  const auto ended = [this, channel, done = std::move(done)](ServerOutcome outcome) {
    if (outcome.state != TaskState::kKilled && outcome.state != TaskState::kSkipped)
      Note(channel, std::nullopt, outcome);
    done(std::move(outcome));
  };
  auto action = Prepare(order);
  if (!action) {
    ended({.state = TaskState::kRefused, .reason = action.error().message});
    return [] {};
  }
  means_.actions.Start(order.task, std::move(*action), ended);
  return [this, task = order.task] { means_.actions.Cancel(task); };
}

void OutsideWork::Note(const std::string& channel, const std::optional<TaskKey>& notice,
                       const ServerOutcome& outcome) const {
  if (means_.attempted && !channel.empty()) means_.attempted(channel, notice, outcome);
}

Result<ServerAction> OutsideWork::Prepare(const engine::ServerOrder& order) {
  ServerAction action;
  const auto fill = [&](HttpAction& http) -> Result<> {
    for (auto& [name, value] : http.headers)
      if (auto done = FillSecrets(value, means_.find_secret, action.masks); !done)
        return Fail(done.error());
    return {};
  };
  if (const auto* http = std::get_if<HttpAction>(&order.what)) {
    HttpAction filled = *http;
    if (auto done = fill(filled); !done) return Fail(done.error());
    CarryTrace(order.task, filled);
    action.what = std::move(filled);
    return action;
  }
  if (const auto* condition = std::get_if<ConditionAction>(&order.what)) {
    ConditionAction filled = *condition;
    if (auto done = fill(filled.request); !done) return Fail(done.error());
    action.what = std::move(filled);
    return action;
  }
  const auto& notify = std::get<NotifyAction>(order.what);
  auto channel = means_.channels.Find(notify.channel);
  if (!channel) return Fail(channel.error());
  const bool secret_url = HasSecretUrl(*channel);
  if (auto done = FillSecrets(*channel, means_.find_secret, action.masks); !done)
    return Fail(done.error().code, "channel {}: {}", notify.channel, done.error().message);
  action.what = ChannelMessage{
      .channel = std::move(*channel),
      .run = order.task.run,
      .job = order.job,
      .state = order.state,
      .message = notify.message,
      .url = means_.public_url.empty() || !order.task.run
                 ? means_.public_url
                 : fmt::format("{}/runs/{}", means_.public_url, FormatRunId(order.task.run)),
      .secret_url = secret_url};
  return action;
}

// A job that sets the header itself means its own.
void OutsideWork::CarryTrace(const TaskKey& task, HttpAction& http) const {
  constexpr std::string_view kHeader = "traceparent";
  const auto is_it = [&](const auto& header) {
    return std::ranges::equal(header.first, kHeader, {},
                              [](char c) { return std::tolower(static_cast<unsigned char>(c)); });
  };
  if (!means_.trace || std::ranges::any_of(http.headers, is_it)) return;
  if (auto place = means_.trace(task); !place.empty())
    http.headers.emplace_back(kHeader, std::move(place));
}

// The failures that went without a line before this one; nothing: neither does this one.
std::optional<std::uint32_t> OutsideWork::UnloggedBefore(const Told& told,
                                                         const ServerOutcome& outcome) {
  if (!told.notice) return 0;
  base::Lock lock(mutex_);
  if (outcome.state == TaskState::kSucceeded) return failing_.Recover(told.channel);
  return failing_.Fail(told.channel, std::chrono::steady_clock::now());
}

void OutsideWork::Report(const TaskKey& task, const Told& told, ServerOutcome outcome) {
  Note(told.channel, told.notice ? std::optional(task) : std::nullopt, outcome);
  if (const auto unlogged = UnloggedBefore(told, outcome))
    spdlog::info("outside task={} state={} status={} reason=\"{}\"{}", FormatTaskKey(task),
                 Name(outcome.state), outcome.status, outcome.reason,
                 *unlogged > 0 ? fmt::format(" failures_before={}", *unlogged) : "");
  {
    base::Lock lock(mutex_);
    open_.erase(task);
  }
  engine::ServerReport report{.task = task, .end = {}};
  report.end.state = outcome.state;
  report.end.reason = std::move(outcome.reason);
  CutText(report.end.reason, link::kMostReasonBytes);
  report.end.outputs = std::move(outcome.outputs);
  means_.submit(std::move(report));
}

}  // namespace muster::server
