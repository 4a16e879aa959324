// The gateway's part that looks up what a node lists in its Hello.
#include <utility>

#include <spdlog/spdlog.h>

#include "engine/hosts/unrecorded_tasks.hpp"
#include "server/gateway/gateway.hpp"

namespace muster::server {
namespace {

// A node may say Hello unasked while it is being asked to.
constexpr int kMostHellos = 3;

}  // namespace

void Gateway::TakeHello(Link& link, link::Hello hello) {
  engine::NodeHello command;
  command.link = LinkId(link.connection->Id());
  command.key = link.connection->PeerKey();
  command.address = link.connection->Remote();
  command.hello = std::move(hello);
  spdlog::debug("hello link={} version={} session={} tasks={}", command.link.value,
                command.hello.version, command.hello.session, command.hello.tasks.size());
  if (command.hello.tasks.empty()) {
    hellos_.Drop(command.link, command.key);
    return submit_(std::move(command));
  }
  if (++link.hellos > kMostHellos)
    return CloseNow(command.link, "the node says Hello without waiting for Welcome");
  const std::string key = command.key;
  if (const auto instead = hellos_.Put(std::move(command)))
    CloseNow(*instead, "the host has said Hello on another link since");
  LookUpNext(key);
}

void Gateway::LookUpNext(const std::string& key) {
  while (auto next = hellos_.Next(key)) {
    const LinkId id = next->link;
    const auto found = links_.find(id);
    const bool posted =
        found != links_.end() &&
        workers_.Post([this, gone = found->second.gone,
                       command = std::move(*next)]() mutable { LookUp(*gone, std::move(command)); },
                      "look up a node's tasks");
    if (posted) return;
    hellos_.Done(key);
    CloseNow(id, "the server is too busy");
  }
}

// On a worker.
void Gateway::LookUp(const std::atomic<bool>& gone, engine::NodeHello command) {
  auto rooms = Look(gone, command);
  loop_.Post([this, command = std::move(command), rooms = std::move(rooms)]() mutable {
    const std::string key = command.key;
    hellos_.Done(key);
    // The link may have gone meanwhile, and the engine been told so.
    const auto found = links_.find(command.link);
    if (found != links_.end() && rooms) {
      found->second.bounds.Expect(*rooms);
      submit_(std::move(command));
    } else if (!rooms) {
      CloseNow(command.link, rooms.error().message);
    }
    LookUpNext(key);
  });
}

Result<OutputRooms> Gateway::Look(const std::atomic<bool>& gone, engine::NodeHello& command) {
  const auto left = Fail(ErrorCode::kUnavailable, "the link is gone");
  if (gone) return left;
  std::vector<TaskKey> keys;
  for (const auto& held : command.hello.tasks) keys.push_back(held.task);
  auto records = store_.FindTasks(keys);
  if (!records) return Fail(records.error());
  command.looked_at = records->commit;
  auto rooms = RoomsOnRecord(store_, keys, records->value);
  if (!rooms) return rooms;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (gone) return left;
    auto& record = records->value[i];
    std::uint64_t end = 0;
    if (record && TakesOutput(*record)) {
      const auto durable = logs_.DurableEnd(keys[i]);
      if (!durable) return Fail(durable.error());
      end = *durable;
    }
    command.looked.push_back({std::move(record), end});
  }
  if (auto runs = engine::LookAtRuns(store_, command); !runs) return Fail(runs.error());
  return rooms;
}

}  // namespace muster::server
