#include "engine/notices/notices.hpp"

#include <algorithm>
#include <set>

#include "domain/host_ranges.hpp"

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

void Send(Turn& turn, NoticeMemory::Telling& telling) {
  const OpenNotice& notice = telling.notice;
  telling.under_way = true;
  turn.AskServer(
      ServerOrder{.task = KeyOf(notice),
                  .what = NotifyAction{.channel = notice.channel, .message = notice.message},
                  .job = notice.job,
                  .state = notice.state,
                  .notice = true});
}

void Arm(State& state, const OpenNotice& notice, MonoTime at) {
  state.timers.push({.at = at, .due = NoticeDue{notice.run, notice.visit}});
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
  // A notice may stand for several.
  const auto asking = std::ranges::count_if(open.visits, [](const auto& item) {
    return item.second.record.state == StageState::kAwaitingApproval;
  });
  if (state == "awaiting_approval" && asking > 1)
    text += fmt::format("\n{} stages wait for approval", asking);
  text +=
      fmt::format("\n{}: {} succeeded", HostsText(run.hosts), open.counts[TaskState::kSucceeded]);
  for (const TaskState other : {TaskState::kFailed, TaskState::kTimedOut, TaskState::kKilled,
                                TaskState::kLost, TaskState::kUnreachable, TaskState::kRefused})
    if (open.counts[other] > 0) text += fmt::format(", {} {}", open.counts[other], Name(other));
  return text;
}

using Key = std::pair<RunId, Visit>;

// The notices of the same run that tell the same channel of the same state. There are at most two:
// one under way, and one behind it.
std::vector<Key> Alike(const State& state, RunId run, const std::string& channel,
                       std::string_view told) {
  std::vector<Key> keys;
  for (auto open = state.notices.open.lower_bound({run, Visit(0)});
       open != state.notices.open.end() && open->first.first == run; ++open)
    if (open->second.notice.channel == channel && open->second.notice.state == told)
      keys.push_back(open->first);
  return keys;
}

void Forget(Turn& turn, Key key) {
  turn.Put(DropNotice{key.first, key.second});
  turn.state.notices.open.erase(key);
}

// Takes out what the newer one makes out of date. True: one is under way, and the newer waits.
bool MakeRoom(Turn& turn, RunId run, const std::string& channel, std::string_view told) {
  bool busy = false;
  for (const Key& key : Alike(turn.state, run, channel, told)) {
    if (turn.state.notices.open.at(key).under_way)
      busy = true;
    else
      Forget(turn, key);
  }
  return busy;
}

// The one that waited behind a notice whose attempt has ended; nothing when there is none.
NoticeMemory::Telling* Behind(Turn& turn, const OpenNotice& notice) {
  if (!notice.run) return nullptr;
  for (const Key& key : Alike(turn.state, notice.run, notice.channel, notice.state))
    if (key.second > notice.visit) return &turn.state.notices.open.at(key);
  return nullptr;
}

void GiveUp(Turn& turn, const OpenNotice& notice, const std::string& why) {
  AuditEntry entry;
  entry.act = "notice.fail";
  entry.object = notice.run ? FormatRunId(notice.run) : "trigger";
  entry.detail = fmt::format(
      "channel {} could not be notified in {} attempts: {}", notice.channel, notice.attempts,
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
  std::set<std::string_view> channels;
  for (const Notice& wish : run.run.spec.notices) {
    if (std::ranges::find(wish.on, state) == wish.on.end()) continue;
    if (!channels.insert(wish.channel).second) continue;
    const bool waits = MakeRoom(turn, run.run.id, wish.channel, state);
    // A number of its own among the run's visits is one that is never given again.
    NoticeMemory::Telling telling{{.run = run.run.id,
                                   .visit = Visit(run.run.next_visit++),
                                   .channel = wish.channel,
                                   .job = run.run.spec.job,
                                   .state = std::string(state),
                                   .message = MessageOf(run, state, what),
                                   .made = turn.now.wall,
                                   .attempts = 0,
                                   .next = turn.now.wall}};
    turn.Put(PutNotice{telling.notice});
    if (!waits) Send(turn, telling);
    const auto key = std::pair(telling.notice.run, telling.notice.visit);
    turn.state.notices.open.insert_or_assign(key, std::move(telling));
  }
}

void TellOfTrigger(Turn& turn, const TriggerSpec& trigger, std::string_view state,
                   std::string message) {
  if (trigger.channel.empty()) return;
  // There is no run to number it: no other notice of these batches has its number.
  auto number = static_cast<std::uint32_t>(turn.commit.value << 4);
  while (turn.state.notices.open.contains({RunId(), Visit(number)})) ++number;
  NoticeMemory::Telling telling{{.run = RunId(),
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
  turn.state.notices.open.insert_or_assign({RunId(), Visit(number)}, std::move(telling));
}

void Fire(Turn& turn, const NoticeDue& due) {
  const auto found = turn.state.notices.open.find({due.run, due.visit});
  if (found == turn.state.notices.open.end() || found->second.under_way) return;
  Send(turn, found->second);
}

bool TakeNoticeReport(Turn& turn, const ServerReport& command) {
  const auto found = turn.state.notices.open.find({command.task.run, command.task.visit});
  if (found == turn.state.notices.open.end()) return false;
  OpenNotice& notice = found->second.notice;
  if (!found->second.under_way || command.task != KeyOf(notice)) return true;
  found->second.under_way = false;
  ++notice.attempts;
  const bool told = command.end.state == TaskState::kSucceeded;
  NoticeMemory::Telling* behind = Behind(turn, notice);
  if (told || behind != nullptr || turn.now.wall - notice.made >= kTriedFor) {
    if (!told && behind == nullptr) GiveUp(turn, notice, command.end.reason);
    Forget(turn, {notice.run, notice.visit});
    if (behind != nullptr && !behind->under_way) Send(turn, *behind);
    return true;
  }
  const Duration wait = WaitAfter(notice.attempts);
  notice.next = turn.now.wall + wait;
  turn.Put(PutNotice{notice});
  Arm(turn.state, notice, turn.now.mono + wait);
  return true;
}

void Decide(Turn& turn, const NoteTest& command) {
  AuditEntry entry;
  entry.act = "channel.test";
  entry.object = "channel " + command.channel;
  entry.reason = command.reason;
  turn.Audit(command.caller, std::move(entry));
  turn.Answer(command, Done{});
}

void LoadNotices(State& state, Snapshot& snapshot, Now now) {
  for (auto& notice : snapshot.notices) {
    // A clock that was set back makes nobody wait longer than the longest wait.
    const Duration wait = std::clamp(notice.next - now.wall, Duration::zero(), kLongestWait);
    Arm(state, notice, now.mono + wait);
    const auto key = std::pair(notice.run, notice.visit);
    state.notices.open.insert_or_assign(key, NoticeMemory::Telling{std::move(notice)});
  }
}

}  // namespace muster::engine
