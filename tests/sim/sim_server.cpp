#include "sim/sim_server.hpp"

#include <utility>

#include "engine/hosts/unrecorded_tasks.hpp"
#include "sim/sim_tickets.hpp"

namespace muster::sim {

SimServer::SimServer(World& world, Truth& truth, DiskMood& mood)
    : world_(world), truth_(truth), mood_(mood), view_(std::make_unique<MemoryStore>(disk_)) {}

Now SimServer::ReadClock() const {
  return {WallTime{world_.Now() + wall_offset_}, MonoTime{world_.Now() + mono_base_}};
}

void SimServer::Start() {
  if (Up()) return;
  world_.Trace("server starts");
  process_ = std::make_shared<Process>(Process{.store = SimStore(world_, truth_, disk_, mood_),
                                               .logs = SimLogStore(world_, log_disk_, mood_),
                                               .pipeline = {},
                                               .intake = {},
                                               .queue = {}});
  const std::weak_ptr<Process> self = process_;
  const auto alive = [self] {
    const auto process = self.lock();
    return process && process->alive;
  };
  process_->intake = std::make_unique<server::Intake>(
      process_->logs,
      server::Intake::Exits{.reports =
                                [this, alive](engine::NodeReports reports) {
                                  if (alive()) Submit(std::move(reports));
                                },
                            .send =
                                [this, alive](LinkId link, link::ServerFrame frame) {
                                  if (alive()) SendFrame(link, std::move(frame));
                                },
                            .close =
                                [this, alive](LinkId link, const Error&) {
                                  if (alive()) Close(link);
                                },
                            .stored = {}});
  process_->pipeline = std::make_unique<engine::Pipeline>(
      process_->store, *this,
      engine::Pipeline::Listener{
          .reply =
              [this](engine::Reply reply) {
                const auto found = waiting_.find(reply.request);
                if (found == waiting_.end()) return;
                const auto answer = std::move(found->second);
                waiting_.erase(found);
                answer(std::move(reply.answer));
              },
          .news = [](std::vector<engine::News>) {},
          .deposed = [](const Error& why) { throw Violation("deposed: " + why.message); },
          .committed =
              [this, alive](engine::Pipeline::CommitTicket ticket, Result<> result) {
                if (!alive()) return;
                process_->pipeline->Committed(ticket, std::move(result), ReadClock());
                Drive();
              },
          .work =
              [this, alive](const std::vector<engine::ServerWork>& work) {
                for (const auto& one : work)
                  if (const auto* order = std::get_if<engine::ServerOrder>(&one))
                    CarryOut(*order, alive);
              }},
      engine::Pipeline::Settings{});
  TryToLead();
}

// A request takes its time, and dies with the server that makes it.
void SimServer::CarryOut(const engine::ServerOrder& order, std::function<bool()> alive) {
  const bool notice = std::holds_alternative<NotifyAction>(order.what);
  if (notice)
    truth_.NoticeLeaves(order.task, order.state);
  else
    truth_.RequestMade(order.task);
  world_.After(world_.Delay(300, 20'000),
               [this, notice, alive = std::move(alive), task = order.task] {
                 if (!alive()) return;
                 engine::ServerReport report{.task = task, .end = {}};
                 report.end.state = world_.Chance(0.8) ? TaskState::kSucceeded : TaskState::kFailed;
                 report.end.reason = "sim";
                 if (notice && report.end.state == TaskState::kSucceeded) truth_.NoticeTaken(task);
                 Submit(std::move(report));
               });
}

void SimServer::TryToLead() {
  const auto leads = process_->pipeline->Lead(ReadClock());
  if (!leads) throw Violation("cannot lead: " + leads.error().message);
  mono_base_by_term_[process_->pipeline->term()] = mono_base_;
  Drive();
}

void SimServer::Crash() {
  if (!Up()) return;
  world_.Trace("server crashes");
  process_->alive = false;
  process_->store.Crash();
  process_->logs.Crash();
  dead_.push_back(std::move(process_));
  process_.reset();
  waiting_.clear();
  auto links = std::exchange(links_, {});
  for (auto& [id, link] : links) link.port.close();
  if (world_.Chance(0.2)) mono_base_ = world_.Between(0, 5'000'000);  // the machine was rebooted
}

void SimServer::TakeBackup() {
  world_.Trace("backup at commit {}", view_->ReadFence()->number.value);
  backup_ = Backup{.records = CopyOf(*disk_, std::nullopt, {}),
                   .logs = log_disk_->Copy(),
                   .taken = ReadClock().wall,
                   .forbidden = forbidden_};
}

void SimServer::Restore() {
  if (!backup_) return;
  Crash();
  // The clock of true time counts the minutes: a wall clock set back is not what is tried here.
  const auto leap = LeapOf(backup_->records->id_space, {0}, {(1 + restores_++) * 60'000});
  const Snapshot::Restored restored{.taken = backup_->taken, .at = ReadClock().wall};
  disk_ = CopyOf(*backup_->records, restored, leap);
  log_disk_ = backup_->logs->Copy();
  forbidden_ = backup_->forbidden;  // a revocation after the backup is lost with it
  view_ = std::make_unique<MemoryStore>(disk_);
  world_.Trace("restored, id space {}", backup_->records->id_space + leap.id_space);
  truth_.Restored(*view_);
}

std::optional<LinkId> SimServer::Open(std::string key, ServerPort port) {
  if (!Up()) return std::nullopt;
  const LinkId id(++next_link_);
  links_[id] = {.key = std::move(key), .port = std::move(port), .host = {}};
  return id;
}

void SimServer::Receive(LinkId id, link::NodeFrame frame) {
  const auto found = links_.find(id);
  if (!Up() || found == links_.end()) return;
  Link& link = found->second;
  if (frame.hello) {
    link.host = {};
    engine::NodeHello command;
    command.link = id;
    command.key = link.key;
    command.hello = std::move(*frame.hello);
    std::vector<TaskKey> keys;
    for (const auto& held : command.hello.tasks) keys.push_back(held.task);
    auto records = view_->FindTasks(keys);
    command.looked_at = records->commit;
    link.bounds.Expect(*server::RoomsOnRecord(*view_, keys, records->value));
    for (std::size_t i = 0; i < keys.size(); ++i)
      command.looked.push_back({std::move(records->value[i]), *log_disk_->DurableEnd(keys[i])});
    if (!engine::LookAtRuns(*view_, command)) throw Violation("runs cannot be read");
    // The look-up is over before the engine sees the command: the world may move on in between.
    world_.After(world_.Delay(2, 200), [this, command = std::move(command), process = process_] {
      if (process->alive) Submit(command);
    });
    return;
  }
  if (frame.beat) {
    link::ServerFrame answer;
    answer.beat = link::BeatAnswer{frame.beat->sent_at, ReadClock().mono.ms};
    SendFrame(id, std::move(answer));
  }
  if ((frame.chunks.empty() && frame.reports.empty()) || !link.host) return;
  auto unwanted = link.bounds.Sift(link.host, frame.chunks);
  if (!unwanted) throw Violation(unwanted.error().message);
  link.bounds.DropTotals(frame.reports);
  if (!unwanted->empty()) {
    link::ServerFrame answer;
    answer.log_acks = std::move(*unwanted);
    link.port.to_node(std::move(answer));
  }
  process_->intake->Take(id, link.host, std::move(frame));
}

void SimServer::Closed(LinkId link) {
  if (links_.erase(link) == 0 || !Up()) return;
  Submit(engine::LinkClosed{link});
}

void SimServer::AskAs(MakeCommand make, Answered answer) {
  if (!Up()) return;
  const RequestId id(++next_request_);
  waiting_[id] = std::move(answer);
  Submit(make(id));
}

void SimServer::Submit(engine::AnyCommand command) {
  process_->queue.push_back(std::move(command));
  world_.After(0, [this, process = process_] {
    if (process->alive) Drive();
  });
}

void SimServer::Drive() {
  auto process = process_;
  auto& pipeline = *process->pipeline;
  while (process->alive && pipeline.Ready() && !process->queue.empty()) {
    const engine::AnyCommand command = std::move(process->queue.front());
    process->queue.pop_front();
    pipeline.Take(command, ReadClock());
  }
  const MonoTime wake = pipeline.Drive(ReadClock());
  if (!process->alive || wake == kNever) return;
  const std::uint64_t number = ++process->wake;
  const std::int64_t delay =
      std::max<std::int64_t>(wake.ms - ReadClock().mono.ms, pipeline.Ready() ? 0 : 1);
  world_.After(delay, [this, process, number] {
    if (process->alive && process->wake == number) Drive();
  });
}

void SimServer::SendFrame(LinkId id, link::ServerFrame frame) {
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  if (!frame.orders.empty() && forbidden_.contains(found->second.key))
    throw Violation("an order went to a revoked host");
  if (frame.welcome) {
    found->second.host = frame.welcome->host;
    frame.welcome->ticket = SimTicket(frame.welcome->cluster, frame.welcome->term);
  }
  if (!found->second.bounds.Note(frame)) return Close(id);
  found->second.port.to_node(std::move(frame));
}

void SimServer::Send(std::vector<Outgoing> frames) {
  for (auto& outgoing : frames) SendFrame(outgoing.link, std::move(outgoing.frame));
}

void SimServer::Close(LinkId id) {
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  found->second.port.close();
}

void SimServer::BeginAnew(Term, const std::string&) {
  link::ServerFrame frame;
  frame.say_hello = true;
  for (auto& [id, link] : links_) {
    link.host = {};
    link.port.to_node(frame);
  }
}

}  // namespace muster::sim
