#include "fleet/emulated_host.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>

#include "adapters/crypto/digest.hpp"
#include "agent/shim/reboot.hpp"
#include "domain/features.hpp"
#include "link/codec/codec.hpp"

namespace muster::fleet {
namespace {

std::int64_t ReadClock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

std::int64_t BootNow() { return ReadClock(CLOCK_BOOTTIME); }

bool Fails(const TaskKey& task, double share) {
  return static_cast<double>(std::hash<TaskKey>{}(task) % 10'000) < share * 10'000;
}

}  // namespace

EmulatedHost::EmulatedHost(net::EventLoop& loop, std::vector<std::string> servers,
                           Identity identity, const Pretence& pretence, std::string boot,
                           Notice notice, agent::TicketCheck& tickets, agent::HistoryFile* history)
    : loop_(loop),
      identity_(std::move(identity)),
      servers_(identity_.store, std::move(servers)),
      pretence_(pretence),
      conduct_(pretence.Of(identity_.name)),
      notice_(std::move(notice)),
      tickets_(tickets),
      boot_(std::move(boot)),
      node_(MakeNode({})),
      // Grows with the wall clock, so that a fleet with kept keys goes on above its last session.
      session_(static_cast<std::uint64_t>(ReadClock(CLOCK_REALTIME))),
      history_(history) {
  KeepHistory();
}

void EmulatedHost::KeepHistory() {
  if (history_ != nullptr) history_->Follow(node_, identity_.name, identity_.store);
}

link::Node EmulatedHost::MakeNode(Term highest_term) {
  link::Node::Options options{
      .version = pretence_.version,
      // Nothing runs here, so every limit is kept.
      .features = {Feature(Resource::kMemory), Feature(Resource::kCpu),
                   Feature(Resource::kProcesses), kFeatureReboot, kFeatureFiles},
      .facts = {{"os", "emulated"}, {"agent", "fleet-" + pretence_.version}},
      .store = identity_.store,
      .boot = restarts_ == 0 ? boot_ : fmt::format("{}-{}", boot_, restarts_),
      .proves = [this](const link::TermTicket& ticket) {
        return tickets_.Check(ticket, identity_.ca_pem, identity_.cluster);
      }};
  return link::Node(std::move(options), highest_term);
}

void EmulatedHost::Connect() {
  leaving_ = false;
  const auto server = net::ParseEndpoint(servers_.Current());
  if (!server) return OnClosed();
  const net::TlsIdentity identity{.ca_pem = identity_.ca_pem,
                                  .ca_fingerprint = {},
                                  .key_pem = identity_.key_pem,
                                  .cert_pem = identity_.cert_pem,
                                  .cluster = true};
  link_ =
      net::LinkClient::Connect(loop_, *server, identity, "/api/v1/link", std::chrono::seconds(60),
                               {.on_open =
                                    [this] {
                                      open_ = true;
                                      node_.SetHasOthers(servers_.HasOthers());
                                      node_.SayHello(++session_, BootNow());
                                      Flush();
                                    },
                                .on_frame = [this](const std::string& bytes) { OnFrame(bytes); },
                                .on_closed = [this](const Error&) { OnClosed(); }});
}

void EmulatedHost::OnClosed() {
  if (std::exchange(leaving_, true)) return;  // a link that was left may still break
  open_ = false;
  node_.Disconnected();
  notice_.closed(std::exchange(welcomed_, false));
  std::uint64_t random = 0;
  const std::string bytes = crypto::RandomBytes(8);
  std::memcpy(&random, bytes.data(), sizeof random);
  const Duration delay = servers_.Lost(BootNow(), random);
  loop_.Post([this, delay] {
    link_.reset();
    loop_.After(delay, [this] { Connect(); });
  });
}

void EmulatedHost::OnFrame(const std::string& bytes) {
  const auto frame = link::DecodeServerFrame(bytes);
  if (!frame) return;
  auto actions = node_.Receive(*frame, BootNow());
  if (actions.refused) return OnClosed();
  if (actions.welcomed) {
    servers_.Welcomed(BootNow());
    // A new leader welcomes it again, on the same link.
    if (!std::exchange(welcomed_, true)) notice_.welcomed();
  }
  servers_.Told(std::move(actions.servers));
  if (actions.hello_again) node_.SayHello(++session_, BootNow());
  for (const auto& task : actions.forget) tasks_.erase(task);
  for (const auto& order : actions.start) StartTask(order);
  for (const auto& kill : actions.kill) EndTask(kill.task, TaskState::kKilled);
  if (actions.goodbye && open_) return OnClosed();
  Flush();
}

void EmulatedHost::StartTask(const link::Order& order) {
  tasks_[order.task] = {.ended = false, .timer = 0, .command = order.command, .end = {}};
  node_.Started(order.task);
  if (order.command->reboot) {
    Flush();
    tasks_[order.task].timer = loop_.After(conduct_.duration, [this] { Restart(); });
    return;
  }
  if (conduct_.duration == Duration::zero()) return EndTask(order.task, TaskState::kSucceeded);
  const Duration timeout = order.command->timeout;
  const bool times_out = timeout > Duration::zero() && timeout < conduct_.duration;
  const TaskState state = times_out ? TaskState::kTimedOut : TaskState::kSucceeded;
  tasks_[order.task].timer =
      loop_.After(times_out ? timeout : conduct_.duration, [this, task = order.task, state] {
        EndTask(task, state);
        Flush();
      });
}

void EmulatedHost::EndTask(const TaskKey& task, TaskState state) {
  const auto found = tasks_.find(task);
  if (found == tasks_.end() || found->second.ended) return;
  found->second.ended = true;
  loop_.Cancel(found->second.timer);
  found->second.end = Ended(task, *found->second.command, state);
  node_.Ended(task, found->second.end);
  notice_.task_ended();
}

std::uint64_t EmulatedHost::KeptOf(const Command& command) const {
  return std::min(conduct_.output_bytes, command.max_output);
}

TaskEnd EmulatedHost::Ended(const TaskKey& task, const Command& command, TaskState state) const {
  TaskEnd end;
  end.state = state;
  if (state == TaskState::kTimedOut)
    end.reason = fmt::format("timed out after {}", FormatDuration(command.timeout));
  end.started = end.ended = WallTime{ReadClock(CLOCK_REALTIME)};
  end.log = PretendedTotals("", 0, "");
  if (!command.IsProcess()) return end;
  if (state == TaskState::kSucceeded) {
    end.exit_code = conduct_.exit_code;
    if (end.exit_code == 0 && Fails(task, pretence_.fail_share)) end.exit_code = 1;
    if (end.exit_code != 0) end.state = TaskState::kFailed;
  }
  const std::uint64_t kept = KeptOf(command);
  end.log = TotalsOf(kept);
  end.log->dropped = conduct_.output_bytes - kept;
  for (const auto& [name, value] : pretence_.outputs)
    end.outputs.emplace_back(name, WithName(value, identity_.name));
  return end;
}

LogTotals EmulatedHost::TotalsOf(std::uint64_t kept) const {
  if (conduct_.output.empty() && kept == pretence_.totals.bytes) return pretence_.totals;
  return PretendedTotals(conduct_.output, kept, identity_.name);
}

// The machine is down and up again: its agent finds what it held, and tells it under another boot.
void EmulatedHost::Restart() {
  ++restarts_;
  node_ = MakeNode(node_.HighestTerm());
  KeepHistory();
  for (auto& [key, task] : tasks_) {
    if (!task.ended) {
      task.ended = true;
      loop_.Cancel(task.timer);
      task.end = Ended(key, *task.command, TaskState::kSucceeded);
      task.end.state = task.command->reboot ? TaskState::kSucceeded : TaskState::kLost;
      task.end.reason = task.command->reboot ? agent::kBackAfterRestart : "the host rebooted";
      notice_.task_ended();
    }
    node_.Restore({.task = key, .state = link::HeldState::kEnded, .end = task.end},
                  task.end.log->bytes);
  }
  if (!open_) return;
  open_ = false;
  notice_.closed(std::exchange(welcomed_, false));
  link_.reset();
  Connect();
}

Result<std::vector<LogChunk>> EmulatedHost::Read(const TaskKey& task, std::uint64_t from,
                                                 std::size_t limit) const {
  std::vector<LogChunk> chunks;
  const std::uint64_t end = std::min<std::uint64_t>(from + limit, KeptOf(*tasks_.at(task).command));
  constexpr std::size_t kMost = 64 << 10;
  for (std::uint64_t at = from; at < end; at += kMost) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kMost, end - at));
    chunks.push_back({task, at, Stream::kStdout, WallTime{ReadClock(CLOCK_REALTIME)},
                      PretendedPiece(conduct_.output, at, size)});
  }
  return chunks;
}

void EmulatedHost::Beat() {
  if (!open_ || !node_.Welcomed()) return;
  node_.QueueBeat(BootNow());
  Flush();
}

void EmulatedHost::Flush() {
  if (!open_) return;
  const auto read = [this](const TaskKey& task, std::uint64_t from, std::size_t limit) {
    return Read(task, from, limit);
  };
  while (link_->Unsent() < (1 << 20)) {
    const auto frame = node_.NextFrame(read);
    if (!frame) return;
    link_->Send(link::Encode(*frame));
  }
}

}  // namespace muster::fleet
