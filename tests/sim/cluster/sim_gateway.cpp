#include "sim/cluster/sim_gateway.hpp"

#include <utility>

#include "engine/hosts/unrecorded_tasks.hpp"

namespace muster::sim {

SimGateway::SimGateway(World& world, Life life, const SimClock& clock, Store& store, LogStore& logs,
                       Submit submit)
    : world_(world),
      life_(std::move(life)),
      clock_(clock),
      store_(store),
      logs_(logs),
      submit_(std::move(submit)),
      intake_(logs,
              {.reports =
                   [this](engine::NodeReports reports) {
                     life_.Later(0, [this, reports = std::move(reports)] { submit_(reports); });
                   },
               .send =
                   [this](LinkId link, link::ServerFrame frame) {
                     life_.Later(0,
                                 [this, link, frame = std::move(frame)] { Deliver(link, frame); });
                   },
               .close = [this](LinkId link,
                               const Error&) { life_.Later(0, [this, link] { Close(link); }); },
               .stored = {}}) {}

void SimGateway::Open(LinkId id, std::string key, ServerPort port) {
  links_[id] = {.key = std::move(key), .port = std::move(port), .host = {}};
}

void SimGateway::Receive(LinkId id, link::NodeFrame frame) {
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  Link& link = found->second;
  if (frame.hello) {
    link.host = {};
    return TakeHello(link, id, std::move(*frame.hello));
  }
  if (frame.beat) {
    link::ServerFrame answer;
    answer.beat = link::BeatAnswer{frame.beat->sent_at, clock_.Read().mono.ms};
    link.port.to_node(std::move(answer));
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
  intake_.Take(id, link.host, std::move(frame));
}

void SimGateway::TakeHello(Link& link, LinkId id, link::Hello hello) {
  engine::NodeHello command;
  command.link = id;
  command.key = link.key;
  command.hello = std::move(hello);
  if (command.hello.tasks.empty()) return submit_(std::move(command));
  std::vector<TaskKey> keys;
  for (const auto& held : command.hello.tasks) keys.push_back(held.task);
  auto records = store_.FindTasks(keys);
  if (!records) return Close(id);
  command.looked_at = records->commit;
  const auto rooms = server::RoomsOnRecord(store_, keys, records->value);
  if (!rooms) return Close(id);
  link.bounds.Expect(*rooms);
  for (std::size_t i = 0; i < keys.size(); ++i)
    command.looked.push_back({std::move(records->value[i]), *logs_.DurableEnd(keys[i])});
  if (!engine::LookAtRuns(store_, command)) return Close(id);
  // Others may lead by the time it reaches an engine.
  life_.Later(world_.Delay(2, 3000), [this, id, command = std::move(command)] {
    if (links_.contains(id)) submit_(command);
  });
}

void SimGateway::Closed(LinkId id) {
  if (links_.erase(id) > 0) submit_(engine::LinkClosed{id});
}

void SimGateway::Deliver(LinkId id, link::ServerFrame frame) {
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  if (frame.welcome) found->second.host = frame.welcome->host;
  if (!found->second.bounds.Note(frame)) return Close(id);
  found->second.port.to_node(std::move(frame));
}

void SimGateway::Close(LinkId id) {
  const auto found = links_.find(id);
  if (found != links_.end()) found->second.port.close();
}

void SimGateway::AskForHello(server::Hearing::By by, Term term) {
  if (!hearing_.Begins(by, term)) return;
  link::ServerFrame frame;
  frame.say_hello = true;
  for (auto& [id, link] : links_) {
    link.host = {};
    link.port.to_node(frame);
  }
}

void SimGateway::SendAway() {
  std::vector<LinkId> open;
  for (const auto& [id, link] : links_) open.push_back(id);
  for (const LinkId id : open) Close(id);
}

void SimGateway::DropAll() {
  for (auto& [id, link] : std::exchange(links_, {})) link.port.close();
}

}  // namespace muster::sim
