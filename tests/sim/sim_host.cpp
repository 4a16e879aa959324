#include "sim/sim_host.hpp"

#include <algorithm>

#include "adapters/crypto/digest.hpp"
#include "sim/sim_tickets.hpp"

namespace muster::sim {
namespace {

constexpr std::int64_t kUnsyncedMs = 5000;  // files younger than this may be lost with the power

LogTotals TotalsOf(const std::string& output) {
  return {.bytes = output.size(),
          .dropped = 0,
          .gap = false,
          .stdout_sha256 = crypto::Sha256(output),
          .stderr_sha256 = kEmptySha256};
}

}  // namespace

SimHost::SimHost(World& world, Truth& truth, Servers& server, const NetMood& net, std::string name)
    : world_(world), truth_(truth), server_(server), net_(net), name_(std::move(name)) {
  disk_.store = fmt::format("store-{:x}", world_.Random());
  disk_.key = fmt::format("key-{:x}", world_.Random());
  NewBoot();
}

void SimHost::NewBoot() {
  boot_ = fmt::format("boot-{:x}", world_.Random());
  mono_base_ = world_.Between(0, 1'000'000);
}

void SimHost::Join(std::function<void()> joined) {
  server_.Ask(
      engine::JoinHost{
          .caller = {}, .invite = invite_, .name = name_, .key = disk_.key, .labels = {}},
      [this, joined, key = disk_.key](const Result<engine::JoinHost::Answer>& answer) {
        if (!answer) world_.Trace("{} cannot join: {}", name_, answer.error().message);
        // A wish to revoke the key before it may reach the server after the new one.
        if (!answer && answer.error().code == ErrorCode::kDenied) revoked_ = true;
        if (!answer || key != disk_.key) return;
        if (std::holds_alternative<engine::JoinWaits>(*answer)) return;  // it asks again
        disk_.joined = true;
        joined();
      });
  const std::string key = disk_.key;
  world_.After(world_.Between(2000, 5000), [this, joined, key] {
    // Joined meanwhile, or reimaged once more: the caller of then is no longer interested.
    if (key == disk_.key && !disk_.joined) Join(joined);
  });
}

void SimHost::StartAgent() {
  if (AgentUp() || !disk_.joined) return;
  world_.Trace("{} agent starts, {} tasks on disk", name_, disk_.tasks.size());
  ++agent_life_;
  revoked_ = unknown_ = copy_ = false;
  node_ = std::make_unique<link::Node>(
      link::Node::Options{
          .version = "sim", .store = disk_.store, .boot = boot_, .proves = ProvesInSim},
      disk_.term);
  KeepJournal();
  for (auto& [task, kept] : disk_.tasks) {
    if (!kept.end && !alive_.contains(task)) {
      TaskEnd end;
      end.state = kept.started || kept.boot != boot_ ? TaskState::kLost : TaskState::kSkipped;
      end.reason = "gone";
      end.log = TotalsOf(kept.output);
      end.log->gap = true;
      kept.end = end;
    }
    node_->Restore({task, kept.end ? link::HeldState::kEnded : link::HeldState::kRunning, kept.end},
                   kept.output.size());
  }
  Connect();
  world_.After(world_.Between(0, 10'000), [this, life = agent_life_] {
    if (life == agent_life_) Beat();
  });
}

void SimHost::KeepJournal() {
  node_->Observe([this](const link::Moment& moment) {
    // As a line of a file, so that this is a test of the form too.
    const link::Teller teller{.host = name_,
                              .store = disk_.store,
                              .wall = WallTime{world_.Now() + 1},
                              .server_now = node_->ServerNow(BootNow())};
    truth_.Wrote(*checks::ParseJournalLine(link::JournalLine(teller, moment)),
                 fmt::format("{}@{}", name_, static_cast<const void*>(this)));
  });
}

void SimHost::CrashAgent() {
  if (!AgentUp()) return;
  world_.Trace("{} agent crashes", name_);
  ++agent_life_;
  Disconnect(false);
  node_.reset();
}

void SimHost::PowerLoss() {
  world_.Trace("{} loses power", name_);
  CrashAgent();
  for (const auto& [task, process] : alive_) {
    truth_.At(task).vanished = true;
    truth_.ProcessEnds(task);
  }
  alive_.clear();
  std::erase_if(disk_.tasks, [&](const auto& item) {
    return item.second.written + kUnsyncedMs > world_.Now() && world_.Chance(0.5);
  });
  NewBoot();
}

void SimHost::Reimage() {
  PowerLoss();
  world_.Trace("{} is reimaged", name_);
  disk_ = {};
  snapshot_.reset();
  doubled_ = false;
  disk_.store = fmt::format("store-{:x}", world_.Random());
  disk_.key = fmt::format("key-{:x}", world_.Random());
}

std::unique_ptr<SimHost> SimHost::Clone() {
  auto copy = std::make_unique<SimHost>(world_, truth_, server_, net_, name_);
  world_.Trace("{} is cloned", name_);
  copy->disk_ = disk_;
  copy->doubled_ = doubled_ = true;
  // The copy may say that these are gone.
  for (const auto& [task, process] : alive_) truth_.ProcessEnds(task);
  return copy;
}

void SimHost::PutSnapshotBack() {
  if (!snapshot_) return;
  world_.Trace("{} is put back to a snapshot", name_);
  PowerLoss();
  const Term welcomed = disk_.welcomed;
  disk_ = *snapshot_;
  disk_.welcomed = welcomed;
  doubled_ = true;
}

void SimHost::CutLink() {
  if (!wire_) return;
  world_.Trace("{} link is cut", name_);
  Disconnect(true);
}

void SimHost::Connect() {
  const std::uint64_t session = ++disk_.session;
  auto wire = std::make_shared<Wire>();
  wire_ = wire;
  world_.After(world_.Delay(net_.usual, net_.rare), [this, wire, session] {
    if (wire_ != wire) return;
    const auto link = server_.Open(
        disk_.key,
        {.to_node = [this,
                     wire](link::ServerFrame frame) { DeliverToNode(wire, std::move(frame)); },
         .close =
             [this, wire] {
               // After what was sent on it.
               world_.After(std::max<std::int64_t>(wire->to_node_at - world_.Now(), 0) + 1,
                            [this, wire] {
                              const LinkId id = wire->link;
                              server_.Closed(id);
                              if (wire_ == wire) Disconnect(true);
                            });
             }});
    if (!link) return Disconnect(true);
    wire->link = *link;
    node_->SayHello(session, BootNow());
    Flush();
  });
}

// This end gives the connection up. What is on its way may still arrive at the other end, and that
// end may notice much later.
void SimHost::Disconnect(bool reconnect) {
  if (!wire_) return;
  const auto wire = std::exchange(wire_, nullptr);
  wire->up = false;
  world_.After(world_.Delay(10, 2000), [wire] { wire->delivering = false; });
  if (wire->link)
    world_.After(world_.Delay(50, 20'000), [this, wire] { server_.Closed(wire->link); });
  if (node_) node_->Disconnected();
  if (reconnect && node_) Reconnect();
}

void SimHost::Reconnect() {
  const Duration delay = backoff_.Next(world_.Random());
  world_.After(delay.count(), [this, life = agent_life_] {
    if (life == agent_life_ && node_ && !wire_ && !revoked_) Connect();
  });
}

void SimHost::DeliverToNode(const std::shared_ptr<Wire>& wire, link::ServerFrame frame) {
  wire->to_node_at = std::max(wire->to_node_at, world_.Now() + world_.Delay(net_.usual, net_.rare));
  world_.After(wire->to_node_at - world_.Now(), [this, wire, frame = std::move(frame)] {
    if (wire_ != wire || !node_) return;
    if (frame.welcome && frame.welcome->session == disk_.session && world_.Chance(0.01))
      return Impersonate(*frame.welcome);
    if (frame.welcome) disk_.welcomed = std::max(disk_.welcomed, frame.welcome->term);
    CarryOut(node_->Receive(frame, BootNow()));
  });
}

// Something that is no leader of this cluster answers instead, with a term above all.
void SimHost::Impersonate(link::Welcome welcome) {
  welcome.term = Term(welcome.term.value + 1000);
  if (world_.Chance(0.5)) welcome.ticket = {};
  link::ServerFrame frame;
  frame.welcome = std::move(welcome);
  const Term before = node_->HighestTerm();
  const auto actions = node_->Receive(frame, BootNow());
  // One that answers an older Hello is not refused: nothing in it counts.
  if (actions.welcomed || actions.new_term || node_->HighestTerm() != before)
    throw Violation(
        fmt::format("{} believed term {} without proof", name_, frame.welcome->term.value));
  world_.Trace("{} refuses term {}", name_, frame.welcome->term.value);
  Disconnect(true);
}

void SimHost::SendToServer(const std::shared_ptr<Wire>& wire, link::NodeFrame frame) {
  wire->to_server_at =
      std::max(wire->to_server_at, world_.Now() + world_.Delay(net_.usual, net_.rare));
  world_.After(wire->to_server_at - world_.Now(), [this, wire, frame = std::move(frame)] {
    if (wire->delivering) server_.Receive(wire->link, frame);
  });
}

void SimHost::CarryOut(link::Node::Actions actions) {
  if (actions.refused) {
    world_.Trace("{} is refused: {}", name_, actions.refused->code);
    if (actions.refused->code == "copy" && !doubled_)
      throw Violation(name_ + " is called a copy, and no other machine ever had its disk");
    revoked_ = actions.refused->code == "revoked";
    copy_ = actions.refused->code == "copy";
    unknown_ = actions.refused->code == "unknown";
  }
  if (actions.new_term) disk_.term = *actions.new_term;
  if (actions.welcomed) {
    heard_since_ = world_.Now();
    backoff_.Reset();
    copy_ = false;
  }
  if (actions.hello_again) node_->SayHello(++disk_.session, BootNow());
  for (const auto& task : actions.forget) {
    world_.Trace("{} forgets {}", name_, FormatTaskKey(task));
    disk_.tasks.erase(task);
  }
  if (actions.welcomed)
    for (const auto& answer : actions.welcomed->answers)
      world_.Trace("{} is told of {}: {}", name_, FormatTaskKey(answer.task),
                   answer.verb == link::Verb::kGoOn   ? "go on"
                   : answer.verb == link::Verb::kKill ? "kill"
                                                      : "forget");
  for (const auto& order : actions.start) StartTask(order);
  for (const auto& kill : actions.kill) {
    if (!alive_.contains(kill.task)) continue;
    world_.After(world_.Between(0, 200), [this, task = kill.task, boot = boot_] {
      if (!IsAlive(task, boot)) return;
      truth_.At(task).killed = true;
      EndProcess(task, TaskState::kKilled, 0);
    });
  }
  Flush();
}

void SimHost::StartTask(const link::Order& order) {
  disk_.tasks[order.task] = {order, {}, {}, boot_, world_.Now()};
  if (world_.Chance(0.01)) {
    // Killed between writing the order and starting the process.
    world_.After(0, [this] { CrashAgent(); });
    world_.After(world_.Delay(1000, 20'000), [this] { StartAgent(); });
    return;
  }
  disk_.tasks[order.task].started = true;
  if (order.term < disk_.welcomed)
    throw Violation(fmt::format("{} began {} of term {} after term {} had welcomed it", name_,
                                FormatTaskKey(order.task), order.term.value, disk_.welcomed.value));
  truth_.ProcessStarts(order, server_.Begins(order), !doubled_);
  world_.Trace("{} runs {}", name_, FormatTaskKey(order.task));
  const std::int64_t life = LifeOf(*order.command);
  alive_[order.task] = {boot_, world_.Now() + life};
  node_->Started(order.task);
  Speak(order.task, static_cast<int>(world_.Between(0, 4)), life);
}

// How long it would run; what may take minutes often does. Its host ends it at its timeout, also
// when the agent is down.
std::int64_t SimHost::LifeOf(const Command& command) {
  const std::int64_t timeout = command.timeout.count();
  const std::int64_t life = timeout > 60'000 && world_.Chance(0.7)
                                ? world_.Between(0, timeout + timeout / 4)
                                : world_.Delay(3000, 20'000);
  return std::min(life, timeout + world_.Between(1, 200));
}

bool SimHost::WorksFor(std::int64_t ms) const {
  return std::ranges::any_of(
      alive_, [&](const auto& item) { return item.second.until >= world_.Now() + ms; });
}

std::set<RunId> SimHost::RunsAtWork() const {
  std::set<RunId> runs;
  for (const auto& [task, process] : alive_) runs.insert(task.run);
  return runs;
}

void SimHost::CheckStopped() const {
  constexpr std::int64_t kGrace = 15'000;  // and what may be on its way
  if (!Welcomed() || doubled_) return;
  for (const auto& [task, process] : alive_)
    if (const auto since = truth_.courses().StoppedSince(task.run);
        since && std::max(*since, heard_since_) + kGrace < world_.Now())
      throw Violation(fmt::format("{} still runs {} ms after its run, or one above it, was stopped",
                                  FormatTaskKey(task), world_.Now() - *since));
}

// Says something now and then, and ends when it has lived its life (or its timeout).
void SimHost::Speak(const TaskKey& task, int pieces_left, std::int64_t life) {
  const std::int64_t step = life / (pieces_left + 1);
  world_.After(step, [this, task, pieces_left, life, step, boot = boot_] {
    if (!IsAlive(task, boot)) return;
    if (pieces_left == 0) {
      const auto timeout = disk_.tasks.at(task).order.command->timeout.count();
      const bool timed_out = life > timeout;
      const int code = world_.Chance(0.1) ? 3 : 0;
      if (!timed_out) truth_.At(task).exit = code;
      EndProcess(task,
                 timed_out   ? TaskState::kTimedOut
                 : code == 0 ? TaskState::kSucceeded
                             : TaskState::kFailed,
                 timed_out ? 0 : code);
      return;
    }
    const std::string piece(static_cast<std::size_t>(world_.Between(1, 3000)),
                            static_cast<char>('a' + pieces_left));
    truth_.At(task).output += piece;
    auto& kept = disk_.tasks.at(task);
    kept.output += piece;
    kept.written = world_.Now();
    if (node_) node_->Output(task, kept.output.size());
    Flush();
    Speak(task, pieces_left - 1, life - step);
  });
}

void SimHost::EndProcess(const TaskKey& task, TaskState state, int exit_code) {
  alive_.erase(task);
  truth_.ProcessEnds(task);
  auto& kept = disk_.tasks.at(task);
  TaskEnd end;
  end.state = state;
  end.exit_code = exit_code;
  end.log = TotalsOf(kept.output);
  if (world_.Chance(0.7)) end.outputs = {{"v", FormatTaskKey(task)}};
  kept.end = end;
  kept.written = world_.Now();
  world_.Trace("{} {} ends {}", name_, FormatTaskKey(task), Name(state));
  if (node_) node_->Ended(task, end);
  Flush();
}

void SimHost::Flush() {
  if (!node_ || !wire_ || !wire_->link) return;
  const auto read = [this](const TaskKey& task, std::uint64_t from,
                           std::size_t limit) -> Result<std::vector<LogChunk>> {
    const auto& output = disk_.tasks.at(task).output;
    std::vector<LogChunk> chunks;
    if (from < output.size())
      chunks.push_back({task, from, Stream::kStdout, WallTime{1}, output.substr(from, limit)});
    return chunks;
  };
  while (auto frame = node_->NextFrame(read)) SendToServer(wire_, std::move(*frame));
}

void SimHost::Beat() {
  if (Welcomed()) {
    node_->QueueBeat(BootNow());
    Flush();
  }
  world_.After(10'000, [this, life = agent_life_] {
    if (life == agent_life_ && node_) Beat();
  });
}

}  // namespace muster::sim
