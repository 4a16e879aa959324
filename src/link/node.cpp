#include "link/node.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "link/frame_bounds.hpp"

namespace muster::link {
namespace {

// How long ids of forgotten tasks are kept after their start_by: far above any delay inside a
// session.
constexpr std::int64_t kRecentSlack = 60'000;

TaskEnd RefusedFor(std::string reason) {
  TaskEnd end;
  end.state = TaskState::kRefused;
  end.reason = std::move(reason);
  end.log = LogTotals{.stdout_sha256 = kEmptySha256, .stderr_sha256 = kEmptySha256};
  return end;
}

}  // namespace

Node::Node(Options options, Term highest_term)
    : options_(std::move(options)), highest_term_(highest_term) {}

void Node::Restore(const HeldTask& held, std::uint64_t spooled) {
  Entry entry;
  entry.state = held.state;
  entry.end = held.end;
  if (entry.end) CutText(entry.end->reason, kMostReasonBytes);
  entry.spooled = spooled;
  tasks_[held.task] = std::move(entry);
  Tell(MomentKind::kFound, held.task, held.end ? &*held.end : nullptr);
}

void Node::Tell(MomentKind kind, const TaskKey& task, const TaskEnd* end) const {
  if (observer_)
    observer_({.kind = kind, .task = task, .term = highest_term_, .session = session_, .end = end});
}

void Node::Tell(MomentKind kind, const Order& order, std::optional<ServerTime> server_now) const {
  if (observer_)
    observer_({.kind = kind,
               .task = order.task,
               .term = order.term,
               .session = order.session,
               .start_by = order.start_by,
               .server_now = server_now});
}

Hello Node::MakeHello(std::int64_t now) {
  Hello hello{.version = options_.version,
              .features = options_.features,
              .facts = options_.facts,
              .store = options_.store,
              .boot = options_.boot,
              .session = session_,
              .highest_term = highest_term_,
              .tasks = {},
              .sent_at = now,
              .has_others = has_others_,
              .seen = seen_};
  std::size_t room = options_.frame_bytes;
  for (auto& [key, entry] : tasks_) {
    const bool ended = entry.state == HeldState::kEnded;
    entry.start_told = true;
    // An end for which there is no room follows in a report, as if it came after this.
    entry.end_told = ended && TakeRoom(*entry.end, room);
    if (ended && !entry.end_told)
      hello.tasks.push_back({key, HeldState::kRunning, {}});
    else
      hello.tasks.push_back({key, entry.state, entry.end});
    entry.log_told = false;
    entry.answered = false;
  }
  return hello;
}

// Whether the texts of `end` fit what is left in a frame, which shrinks by them: a frame is
// bounded, and a host may hold many ends at once. In an empty frame any end fits.
bool Node::TakeRoom(const TaskEnd& end, std::size_t& room) const {
  std::size_t bytes = end.reason.size();
  for (const auto& [name, value] : end.outputs) bytes += name.size() + value.size();
  if (bytes > room && room < options_.frame_bytes) return false;
  room -= std::min(room, bytes);
  return true;
}

void Node::SayHello(std::uint64_t session, std::int64_t now) {
  session_ = session;
  welcomed_ = false;
  clock_.Forget();
  refused_.clear();
  beat_.reset();
  hello_ = MakeHello(now);
}

void Node::Disconnected() {
  welcomed_ = false;
  hello_.reset();
  beat_.reset();
  refused_.clear();
}

Node::Actions Node::Receive(const ServerFrame& frame, std::int64_t now) {
  Actions actions;
  if (frame.refusal) {
    actions.refused = frame.refusal;
    return actions;
  }
  actions.goodbye = frame.goodbye.has_value();
  if (frame.say_hello) {
    welcomed_ = false;
    if (frame.seen != 0) seen_ = frame.seen;
    actions.hello_again = true;
    return actions;
  }
  if (frame.welcome) TakeWelcome(*frame.welcome, now, actions);
  if (actions.refused) return actions;
  if (!welcomed_) return actions;  // of an older session or a refused term: nothing in it counts
  actions.papers = frame.papers;
  if (frame.welcome) actions.servers = frame.welcome->servers;
  if (frame.beat) {
    clock_.Answered(frame.beat->echo, frame.beat->server_time, now);
    if (!frame.beat->servers.empty()) actions.servers = frame.beat->servers;
  }
  if (frame.goodbye && !frame.goodbye->servers.empty()) actions.servers = frame.goodbye->servers;
  for (const auto& order : frame.orders) TakeOrder(order, now, actions);
  for (const auto& kill : frame.kills)
    if (const auto found = tasks_.find(kill.task);
        found != tasks_.end() && found->second.state != HeldState::kEnded)
      actions.kill.push_back(kill);
  for (const auto& ack : frame.log_acks) {
    const auto found = tasks_.find(ack.task);
    if (found == tasks_.end()) continue;
    Entry& entry = found->second;
    const std::uint64_t durable = std::min(std::max(entry.durable, ack.offset), entry.sent);
    unacknowledged_ -= durable - entry.durable;
    entry.durable = durable;
    dirty_ = true;
  }
  for (const auto& task : frame.forgets) Drop(task, actions);
  return actions;
}

Result<> Node::Proven(const Welcome& welcome) const {
  if (!options_.proves) return {};
  const TermTicket& ticket = welcome.ticket;
  if (ticket.signature.empty())
    return Fail(
        ErrorCode::kDenied,
        "it has no ticket for its term {}; is it older than this agent? Upgrade servers first",
        welcome.term.value);
  if (ticket.term != welcome.term || ticket.cluster != welcome.cluster)
    return Fail(ErrorCode::kDenied,
                "its ticket is for term {} of cluster {}, not for term {} of {}", ticket.term.value,
                ticket.cluster, welcome.term.value, welcome.cluster);
  return options_.proves(ticket);
}

void Node::TakeWelcome(const Welcome& welcome, std::int64_t now, Actions& actions) {
  if (welcome.session != session_) return;
  if (const auto proven = Proven(welcome); !proven) {
    actions.refused = Refusal{"no_ticket", proven.error().message};
    actions.refused_by_node = true;
    return;
  }
  if (welcome.term < highest_term_) {
    actions.refused = Refusal{
        "old_term",
        fmt::format(
            "the server's term {} is older than {}, which this host has obeyed; was its data "
            "folder put back by hand? 'musterd restore' raises the term",
            welcome.term.value, highest_term_.value)};
    actions.refused_by_node = true;
    return;
  }
  if (welcome.term > highest_term_) {
    highest_term_ = welcome.term;
    actions.new_term = welcome.term;
  }
  clock_.Answered(welcome.echo, welcome.server_time, now);
  welcomed_ = true;
  seen_ = 0;
  unacknowledged_ = 0;
  Tell(MomentKind::kWelcomed, TaskKey{});
  for (const auto& answer : welcome.answers) {
    const auto found = tasks_.find(answer.task);
    if (found == tasks_.end()) continue;
    Entry& entry = found->second;
    if (answer.verb == Verb::kForget) {
      Drop(answer.task, actions);
      continue;
    }
    entry.answered = true;
    entry.durable = entry.sent = std::min(answer.durable_offset, entry.spooled);
    if (answer.verb == Verb::kKill && entry.state != HeldState::kEnded)
      actions.kill.push_back({answer.task, answer.grace});
  }
  dirty_ = true;
  actions.welcomed = welcome;
}

void Node::TakeOrder(const Order& order, std::int64_t now, Actions& actions) {
  const auto server_now = clock_.Latest(now);
  if (order.session != session_ || order.term != highest_term_)
    return Tell(MomentKind::kStale, order, server_now);
  if (tasks_.contains(order.task) || recent_.contains(order.task))
    return Tell(MomentKind::kKnown, order, server_now);
  if (!server_now || *server_now > order.start_by) {
    Tell(MomentKind::kLate, order, server_now);
    refused_.push_back(
        {.task = order.task, .kind = ReportKind::kRefusedLate, .end = {}, .log = {}});
    dirty_ = true;
    return;
  }
  Entry& entry = tasks_[order.task];
  entry.answered = true;
  start_by_[order.task] = order.start_by;
  for (const auto& need : order.needs) {
    if (std::ranges::find(options_.features, need) != options_.features.end()) continue;
    Tell(MomentKind::kRefused, order, server_now);
    Ended(order.task, RefusedFor(fmt::format("this agent ({}) does not know '{}'; upgrade it",
                                             options_.version, need)));
    return;
  }
  Tell(MomentKind::kObeyed, order, server_now);
  actions.start.push_back(order);
}

void Node::Drop(const TaskKey& task, Actions& actions) {
  const auto found = tasks_.find(task);
  if (found == tasks_.end()) return;
  unacknowledged_ -=
      std::min<std::size_t>(unacknowledged_, found->second.sent - found->second.durable);
  tasks_.erase(found);
  if (const auto due = start_by_.find(task); due != start_by_.end()) {
    recent_[task] = due->second;
    start_by_.erase(due);
  }
  actions.forget.push_back(task);
}

void Node::Started(const TaskKey& task) {
  const auto found = tasks_.find(task);
  if (found == tasks_.end() || found->second.state != HeldState::kAccepted) return;
  found->second.state = HeldState::kRunning;
  dirty_ = true;
  Tell(MomentKind::kStarted, task);
}

void Node::Output(const TaskKey& task, std::uint64_t spooled) {
  const auto found = tasks_.find(task);
  if (found == tasks_.end()) return;
  found->second.spooled = std::max(found->second.spooled, spooled);
  dirty_ = true;
}

void Node::Ended(const TaskKey& task, const TaskEnd& end) {
  const auto found = tasks_.find(task);
  if (found == tasks_.end() || found->second.state == HeldState::kEnded) return;
  Entry& entry = found->second;
  entry.state = HeldState::kEnded;
  entry.end = end;
  CutText(entry.end->reason, kMostReasonBytes);
  if (end.log) entry.spooled = end.log->bytes;
  dirty_ = true;
  Tell(MomentKind::kEnded, task, &end);
}

void Node::QueueBeat(std::int64_t now) {
  beat_ = Beat{.sent_at = now, .running = Running()};
  if (std::exchange(unread_, false)) dirty_ = true;
  if (const auto server_now = clock_.Latest(now))
    std::erase_if(recent_,
                  [&](const auto& item) { return item.second + kRecentSlack < *server_now; });
}

std::uint32_t Node::Running() const {
  return static_cast<std::uint32_t>(std::ranges::count_if(
      tasks_, [](const auto& item) { return item.second.state != HeldState::kEnded; }));
}

std::optional<NodeFrame> Node::NextFrame(const ReadOutput& read) {
  NodeFrame frame{.session = session_, .hello = {}, .beat = {}, .chunks = {}, .reports = {}};
  if (hello_) {
    frame.hello = std::exchange(hello_, std::nullopt);
    return frame;
  }
  if (!welcomed_) return std::nullopt;
  frame.beat = std::exchange(beat_, std::nullopt);
  if (dirty_) {
    dirty_ = false;
    frame.reports = std::exchange(refused_, {});
    std::size_t room = options_.frame_bytes;
    for (auto& [key, entry] : tasks_) {
      if (!entry.answered) continue;
      if (entry.sent < entry.spooled) AddOutput(key, entry, read, frame);
      AddReports(key, entry, room, frame);
    }
  }
  if (frame.Empty()) return std::nullopt;
  return frame;
}

void Node::AddOutput(const TaskKey& task, Entry& entry, const ReadOutput& read, NodeFrame& frame) {
  std::size_t in_frame = 0;
  for (const auto& chunk : frame.chunks) in_frame += chunk.data.size();
  if (in_frame >= options_.frame_bytes || frame.chunks.size() >= kMostChunks) {
    dirty_ = true;  // another frame follows
    return;
  }
  if (unacknowledged_ >= options_.window) return;  // the next acknowledgement goes on
  const std::size_t room =
      std::min(options_.window - unacknowledged_, options_.frame_bytes - in_frame);
  auto chunks = read(task, entry.sent, room);
  if (!chunks) {
    unread_ = true;  // tried again with the next event, at the latest with the next beat
    return;
  }
  for (auto& chunk : *chunks) {
    if (frame.chunks.size() == kMostChunks) break;
    entry.sent += chunk.data.size();
    unacknowledged_ += chunk.data.size();
    frame.chunks.push_back(std::move(chunk));
  }
  if (entry.sent < entry.spooled && !chunks->empty()) dirty_ = true;
}

void Node::AddReports(const TaskKey& task, Entry& entry, std::size_t& room, NodeFrame& frame) {
  if (entry.state == HeldState::kEnded && !entry.end_told) {
    if (!TakeRoom(*entry.end, room)) {
      dirty_ = true;  // another frame follows
      return;
    }
    Report report{.task = task, .kind = ReportKind::kEnded, .end = entry.end, .log = {}};
    entry.end_told = entry.start_told = true;
    if (entry.OutputSent())
      entry.log_told = true;
    else
      report.end->log.reset();
    frame.reports.push_back(std::move(report));
    return;
  }
  if (entry.end_told && !entry.log_told && entry.OutputSent()) {
    entry.log_told = true;
    frame.reports.push_back(
        {.task = task, .kind = ReportKind::kLogEnded, .end = {}, .log = entry.end->log});
    return;
  }
  if (entry.state == HeldState::kRunning && !entry.start_told) {
    entry.start_told = true;
    frame.reports.push_back({.task = task, .kind = ReportKind::kStarted, .end = {}, .log = {}});
  }
}

}  // namespace muster::link
