#include "engine/hosts/presence.hpp"

#include <algorithm>

#include "base/version.hpp"
#include "engine/hosts/copies.hpp"
#include "engine/hosts/hello_tasks.hpp"
#include "engine/limiter/limiter.hpp"
#include "engine/runs/dispatch.hpp"
#include "link/judge.hpp"
#include "link/version.hpp"

namespace muster::engine {
namespace {

// The host stays as it is, with the reason beside it, which says why it is not online.
void RefuseVersion(Turn& turn, HostEntry& entry, const NodeHello& command, std::string why) {
  Refuse(turn, command.link, "version", why);
  const bool told = entry.host.note == why && entry.host.facts == command.hello.facts;
  if (told || entry.link) return;
  entry.host.note = std::move(why);
  entry.host.facts = command.hello.facts;
  turn.Put(PutHost{entry.host});
  turn.Tell(HostNews{entry.host, false, entry.address});
}

void Accept(Turn& turn, HostEntry& entry, const NodeHello& command) {
  if (entry.link && entry.link != command.link) {
    turn.effects.closes.push_back(entry.link);
    turn.state.hosts.by_link.erase(entry.link);
  }
  entry.link = command.link;
  entry.heard_alone.reset();
  entry.settled = true;
  entry.address = command.address;
  entry.features = command.hello.features;
  Host& host = entry.host;
  host.state = HostState::kActive;
  host.store = command.hello.store;
  host.boot = command.hello.boot;
  host.session = command.hello.session;
  host.facts = command.hello.facts;
  host.note.clear();  // an active host's note is why it was kept out before
  host.last_hello = turn.now.wall;
  turn.state.hosts.by_link[command.link] = host.id;
  turn.Put(PutHost{host});
  turn.Tell(HostNews{host, true, entry.address});
}

void Welcome(Turn& turn, HostEntry& entry, const NodeHello& command, bool taken_back) {
  link::Welcome welcome{.cluster = turn.state.cluster,
                        .term = turn.state.term,
                        .session = command.hello.session,
                        .host = entry.host.id,
                        .host_name = entry.host.name,
                        .server_time = turn.now.mono.ms,
                        .echo = command.hello.sent_at,
                        .heartbeat = turn.state.options.heartbeat,
                        .answers = {}};
  auto listed = AnswerListed(turn, entry, command);
  welcome.answers = std::move(listed.answers);
  turn.FrameFor(command.link).welcome = std::move(welcome);
  SettleOthers(turn, entry, command.hello, listed.tasks, taken_back);
}

// Of an older session: whether a node is at the link's other end at all, its next Hello will tell.
void AskAgain(Turn& turn, HostEntry& entry, LinkId link) {
  entry.asked = link;
  link::ServerFrame& frame = turn.FrameFor(link);
  frame.say_hello = true;
  frame.seen = entry.host.session;
}

}  // namespace

void Refuse(Turn& turn, LinkId link, std::string code, std::string message) {
  turn.FrameFor(link).refusal = link::Refusal{std::move(code), std::move(message)};
  turn.effects.closes.push_back(link);
}

void DropWishes(Turn& turn, HostId host, const std::set<TaskKey>& except) {
  const auto wishes = turn.state.tasks.wishes.find(host);
  if (wishes == turn.state.tasks.wishes.end()) return;
  std::erase_if(wishes->second, [&](const auto& item) {
    if (except.contains(item.first)) return false;
    turn.Put(DropWish{item.first});
    return true;
  });
  if (wishes->second.empty()) turn.state.tasks.wishes.erase(wishes);
}

void Decide(Turn& turn, const NodeHello& command) {
  const auto id = turn.state.hosts.by_key.find(command.key);
  if (id == turn.state.hosts.by_key.end())
    return Refuse(turn, command.link, "unknown",
                  "this agent's key is not known here; join it again with a new token");
  HostEntry& entry = turn.state.hosts.entries.at(id->second);
  const bool taken_back =
      entry.host.state == HostState::kCopy && IsOnlyOneLeft(turn, entry, command.hello);
  const auto judged =
      taken_back ? link::HelloJudgement{}
                 : link::JudgeHello(entry.host, command.hello, command.link == entry.asked);
  switch (judged.verdict) {
    case link::HelloVerdict::kAccept:
      break;
    case link::HelloVerdict::kBehind:
      return AskAgain(turn, entry, command.link);
    case link::HelloVerdict::kCopy:
      return MarkAsCopy(turn, entry, command.link, command.address, judged.message);
    case link::HelloVerdict::kStale:
      return Refuse(turn, command.link, "old_session", judged.message);
    case link::HelloVerdict::kUnwanted:
      return Refuse(turn, command.link,
                    entry.host.state == HostState::kRevoked ? "revoked" : "copy", judged.message);
  }
  if (auto misfit = link::VersionMisfit(kVersion, command.hello.version))
    return RefuseVersion(turn, entry, command, std::move(*misfit));
  if (LookedTooEarly(turn.state, entry, command)) {
    turn.FrameFor(command.link).say_hello = true;
    return;
  }
  if (taken_back) TakeBack(turn, entry, command.address);
  Accept(turn, entry, command);
  Welcome(turn, entry, command, taken_back);
  for (const TaskPlace& place : entry.queued) {
    OpenRun& run = turn.state.runs.open.at(place.run);
    MakeReady(turn, run, run.visits.at(place.visit), place.ordinal);
  }
}

void Decide(Turn& turn, const LinkClosed& command) {
  const auto found = turn.state.hosts.by_link.find(command.link);
  if (found == turn.state.hosts.by_link.end()) return;
  HostEntry& entry = turn.state.hosts.entries.at(found->second);
  turn.state.hosts.by_link.erase(found);
  if (entry.link != command.link) return;
  entry.link = {};
  // When it was last known to be there; a link may have been open for months.
  entry.host.last_hello = std::max(entry.host.last_hello, turn.now.wall + -command.silent);
  turn.Put(PutHost{entry.host});
  for (const TaskPlace& place : entry.queued) {
    OpenRun& run = turn.state.runs.open.at(place.run);
    OpenVisit& visit = run.visits.at(place.visit);
    Slot& slot = visit.At(place.ordinal);
    slot.wait_until = std::max(turn.now.mono, slot.retry_at) + run.SpecOf(visit).wait_offline;
    ArmWait(turn, run, visit, place.ordinal);
    StopWaiting(turn, place);
  }
  for (const TaskPlace& place : entry.open) {
    OpenRun& run = turn.state.runs.open.at(place.run);
    OpenVisit& visit = run.visits.at(place.visit);
    visit.At(place.ordinal).wait_until = turn.now.mono + run.SpecOf(visit).wait_offline;
  }
  turn.Tell(HostNews{entry.host, false, entry.address});
}

}  // namespace muster::engine
