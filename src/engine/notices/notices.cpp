#include "engine/notices/notices.hpp"

#include <algorithm>

namespace muster::engine {
namespace {

constexpr Duration kFirstWait = std::chrono::seconds(5);
constexpr Duration kLongestWait = std::chrono::minutes(15);
constexpr Duration kTriedFor = std::chrono::hours(24);

// 5 s, 15 s, 45 s, … up to a quarter of an hour.
Duration WaitAfter(std::uint32_t attempts) {
  Duration wait = kFirstWait;
  for (std::uint32_t i = 1; i < attempts && wait < kLongestWait; ++i) wait *= 3;
  return std::min(wait, kLongestWait);
}

TaskKey KeyOf(const OpenNotice& notice) {
  return {notice.run, notice.visit, 0, HostId(), Attempt(notice.attempts + 1)};
}

void Send(Turn& turn, State::Telling& telling) {
  const OpenNotice& notice = telling.notice;
  telling.under_way = true;
  turn.effects.server_orders.push_back(
      {.task = KeyOf(notice),
       .what = NotifyAction{.channel = notice.channel, .message = notice.message},
       .job = notice.job,
       .state = notice.state});
}

void Arm(State& state, const OpenNotice& notice, MonoTime at) {
  state.timers.push({.at = at, .kind = TimerKind::kNotice, .task = {notice.run, notice.visit, 0}});
}

std::string_view Words(std::string_view state) {
  if (state == "timed_out") return "timed out";
  if (state == "cancelled") return "was cancelled";
  if (state == "paused") return "is paused";
  if (state == "awaiting_approval") return "waits for approval";
  return state;
}

std::string MessageOf(const OpenRun& open, std::string_view state, std::string_view what) {
  const Run& run = open.run;
  const std::string& name = run.spec.job.empty() ? run.spec.title : run.spec.job;
  std::string text = fmt::format("{} {} {}", name, FormatRunId(run.id), Words(state));
  if (!what.empty()) text += fmt::format(": {}", what);
  text += fmt::format("\n{} hosts: {} succeeded", run.hosts, open.counts[TaskState::kSucceeded]);
  for (const TaskState other : {TaskState::kFailed, TaskState::kTimedOut, TaskState::kKilled,
                                TaskState::kLost, TaskState::kUnreachable, TaskState::kRefused})
    if (open.counts[other] > 0) text += fmt::format(", {} {}", open.counts[other], Name(other));
  return text;
}

void GiveUp(Turn& turn, const OpenNotice& notice, const std::string& why) {
  AuditEntry entry;
  entry.act = "notice.fail";
  entry.object = notice.run ? FormatRunId(notice.run) : "trigger";
  entry.detail =
      fmt::format("channel {} was not told in {} attempts: {}", notice.channel, notice.attempts,
                  notice.run ? fmt::format("the run {}", Words(notice.state)) : notice.message);
  entry.reason = why;
  entry.run = notice.run;
  turn.Audit({.request = {}, .name = "musterd", .address = {}}, std::move(entry));
}

}  // namespace

void TellChannels(Turn& turn, OpenRun& run, std::string_view state, std::string_view what) {
  // After a restore from backup nobody knows which numbers were used since.
  if (turn.state.FromBackup(run.run.id) && IsFinal(run.run.state))
    run.run.next_visit = std::max(run.run.next_visit, FirstVisitOf(turn.state.id_space) + 1);
  for (const Notice& wish : run.run.spec.notices) {
    if (std::ranges::find(wish.on, state) == wish.on.end()) continue;
    // A number of its own among the run's visits is one that is never given again.
    State::Telling telling{{.run = run.run.id,
                            .visit = Visit(run.run.next_visit++),
                            .channel = wish.channel,
                            .job = run.run.spec.job,
                            .state = std::string(state),
                            .message = MessageOf(run, state, what),
                            .made = turn.now.wall,
                            .attempts = 0,
                            .next = turn.now.wall}};
    turn.Put(PutNotice{telling.notice});
    Send(turn, telling);
    const auto key = std::pair(telling.notice.run, telling.notice.visit);
    turn.state.notices.insert_or_assign(key, std::move(telling));
  }
}

void TellOfTrigger(Turn& turn, const TriggerSpec& trigger, std::string_view state,
                   std::string message) {
  if (trigger.channel.empty()) return;
  // There is no run to number it: no other notice of these batches has its number.
  auto number = static_cast<std::uint32_t>(turn.commit.value << 4);
  while (turn.state.notices.contains({RunId(), Visit(number)})) ++number;
  State::Telling telling{{.run = RunId(),
                          .visit = Visit(number),
                          .channel = trigger.channel,
                          .job = trigger.job,
                          .state = std::string(state),
                          .message = fmt::format("trigger {}: {}", trigger.name, message),
                          .made = turn.now.wall,
                          .attempts = 0,
                          .next = turn.now.wall}};
  turn.Put(PutNotice{telling.notice});
  Send(turn, telling);
  turn.state.notices.insert_or_assign({RunId(), Visit(number)}, std::move(telling));
}

void OnNoticeDue(Turn& turn, RunId run, Visit visit) {
  const auto found = turn.state.notices.find({run, visit});
  if (found == turn.state.notices.end() || found->second.under_way) return;
  Send(turn, found->second);
}

bool TakeNoticeReport(Turn& turn, const ServerReport& command) {
  const auto found = turn.state.notices.find({command.task.run, command.task.visit});
  if (found == turn.state.notices.end()) return false;
  OpenNotice& notice = found->second.notice;
  if (!found->second.under_way || command.task != KeyOf(notice)) return true;
  found->second.under_way = false;
  ++notice.attempts;
  const bool told = command.end.state == TaskState::kSucceeded;
  if (told || turn.now.wall - notice.made >= kTriedFor) {
    if (!told) GiveUp(turn, notice, command.end.reason);
    turn.Put(DropNotice{notice.run, notice.visit});
    turn.state.notices.erase(found);
    return true;
  }
  const Duration wait = WaitAfter(notice.attempts);
  notice.next = turn.now.wall + wait;
  turn.Put(PutNotice{notice});
  Arm(turn.state, notice, turn.now.mono + wait);
  return true;
}

void LoadNotices(State& state, std::vector<OpenNotice> notices, Now now) {
  for (auto& notice : notices) {
    // A clock that was set back makes nobody wait longer than the longest wait.
    const Duration wait = std::clamp(notice.next - now.wall, Duration::zero(), kLongestWait);
    Arm(state, notice, now.mono + wait);
    const auto key = std::pair(notice.run, notice.visit);
    state.notices.insert_or_assign(key, State::Telling{std::move(notice)});
  }
}

}  // namespace muster::engine
