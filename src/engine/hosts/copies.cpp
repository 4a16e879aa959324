#include "engine/hosts/copies.hpp"

#include "domain/copies_text.hpp"
#include "engine/hosts/presence.hpp"
#include "engine/limiter/limiter.hpp"
#include "engine/runs/ending.hpp"
#include "link/judge.hpp"

namespace muster::engine {
namespace {

// A refused agent tries again within a minute and a half, and a try may be lost. After a longer
// silence the network may have kept another agent away as well, so the count begins again.
constexpr Duration kLongestSilence = link::kAloneFor;
constexpr std::uint32_t kLeastHellos = 3;

// Sessions of one data folder only grow, so a number that comes again is another agent's.
bool IsSameAgent(const LoneAgent& lone, const link::Hello& hello, MonoTime now) {
  return hello.store == lone.store && hello.boot == lone.boot && hello.session > lone.session &&
         now - lone.heard <= kLongestSilence;
}

}  // namespace

void MarkAsCopy(Turn& turn, HostEntry& entry, LinkId newcomer, const std::string& address,
                const std::string& why) {
  turn.Audit({.request = {}, .name = "musterd", .address = address}, "agent.copy",
             "host " + entry.host.name, why, {entry.host.id});
  entry.host.state = HostState::kCopy;
  entry.host.note = why;
  entry.heard_alone.reset();
  const std::string message = link::UnwantedMessage(entry.host);
  Refuse(turn, newcomer, "copy", message);
  if (entry.link && entry.link != newcomer) {
    Refuse(turn, entry.link, "copy", message);
    turn.state.hosts.by_link.erase(entry.link);
  }
  if (entry.link) entry.host.last_hello = turn.now.wall;
  entry.link = {};
  GiveUpOutputs(turn, entry.host.id, {});
  turn.Put(PutHost{entry.host});
  turn.Tell(HostNews{entry.host, false, entry.address});
}

void TakeBack(Turn& turn, HostEntry& entry, const std::string& address) {
  turn.Audit({.request = {}, .name = "musterd", .address = address}, "agent.readmit",
             "host " + entry.host.name,
             "of the agents that have its key, only this one was heard for 5 minutes",
             {entry.host.id});
  DoubtLost(turn, entry.host.id);
}

std::string CopiesAmong(const State& state, const Targets& targets) {
  std::vector<std::string> copies;
  for (const auto& target : targets) {
    const auto found = state.hosts.entries.find(target.host);
    if (found != state.hosts.entries.end() && found->second.host.state == HostState::kCopy)
      copies.push_back(target.name);
  }
  return CopiesText(copies);
}

bool IsOnlyOneLeft(Turn& turn, HostEntry& entry, const link::Hello& hello) {
  const MonoTime now = turn.now.mono;
  auto& lone = entry.heard_alone;
  // Whoever has the key alone, and not the data folder, is never the one that is left.
  if (hello.store.empty() || hello.boot.empty() || hello.store != entry.host.store) return false;
  if (!lone || !IsSameAgent(*lone, hello, now))
    lone = LoneAgent{hello.store, hello.boot, hello.session, now, now, 0};
  ++lone->hellos;
  lone->session = hello.session;
  lone->heard = now;
  return lone->hellos >= kLeastHellos && now - lone->since >= link::kAloneFor;
}

}  // namespace muster::engine
