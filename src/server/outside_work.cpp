#include "server/outside_work.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <spdlog/spdlog.h>

namespace muster::server {
namespace {

// Which a notice goes to; "" is the work of a stage.
std::string NoticedBy(const engine::ServerOrder& order) {
  return order.notice ? std::get<NotifyAction>(order.what).channel : "";
}

}  // namespace

void OutsideWork::Take(std::vector<engine::ServerOrder> orders) {
  for (auto& order : orders) {
    const TaskKey task = order.task;
    const std::string channel = NoticedBy(order);
    const bool posted =
        workers_.Post([this, order = std::move(order)] { Begin(order); }, "call outside");
    if (!posted)
      Report(task, channel, {.state = TaskState::kSkipped, .reason = "the server is too busy"});
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
    return Report(order.task, NoticedBy(order),
                  {.state = TaskState::kRefused, .reason = action.error().message});
  means_.actions.Start(order.task, std::move(*action),
                       [this, task = order.task, channel = NoticedBy(order)](ServerOutcome done) {
                         Report(task, channel, std::move(done));
                       });
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
std::optional<std::uint32_t> OutsideWork::UnloggedBefore(const std::string& channel,
                                                         const ServerOutcome& outcome) {
  if (channel.empty()) return 0;
  base::Lock lock(mutex_);
  if (outcome.state == TaskState::kSucceeded) return failing_.Recover(channel);
  return failing_.Fail(channel, std::chrono::steady_clock::now());
}

void OutsideWork::Report(const TaskKey& task, const std::string& channel, ServerOutcome outcome) {
  if (const auto unlogged = UnloggedBefore(channel, outcome))
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
  report.end.outputs = std::move(outcome.outputs);
  means_.submit(std::move(report));
}

}  // namespace muster::server
