#include "engine/hosts/enrol.hpp"

#include <algorithm>

#include "engine/documents/apply.hpp"
#include "engine/hosts/invites.hpp"
#include "engine/hosts/leave.hpp"

namespace muster::engine {
namespace {

// A newcomer that no longer asks must not keep the next one out.
constexpr Duration kPendingPatience = std::chrono::minutes(10);
// So long, and so often, an answer that was lost is given again: to the same key, with the same
// invite, as long as the host has not connected since.
constexpr Duration kLostAnswer = std::chrono::hours(24);
constexpr std::uint32_t kMostCertificates = 10;

void Overlay(Labels& labels, const Labels& more) {
  for (const auto& [key, value] : more) labels[key] = value;
}

void DropPendingOf(Turn& turn, const std::string& name) {
  if (turn.state.hosts.pending.erase(name) > 0) turn.Put(DropPending{name});
}

struct Newcomer {
  const std::string& name;
  const std::string& key;
  const Labels& own;
  const Labels& invited;
  const std::string& invite;
  std::uint32_t certificates;  // that it is given at once
};

// The labels a host has, in the end, by its own word.
std::vector<std::string> OwnLabels(const Labels& own, const std::vector<const Labels*>& given) {
  std::vector<std::string> names;
  for (const auto& [key, value] : own)
    if (std::ranges::none_of(given, [&](const Labels* labels) { return labels->contains(key); }))
      names.push_back(key);
  return names;
}

// "; its own labels zone, rack were ignored".
std::string Ignored(const Invite& invite, const Labels& own) {
  if (!invite.no_own_labels || own.empty()) return {};
  std::string names;
  for (const auto& [key, value] : own) names += (names.empty() ? "" : ", ") + key;
  return fmt::format("; its own labels {} were ignored", names);
}

// Makes the newcomer a host, in place of the one of that name if there is one.
HostEntry& Enrol(Turn& turn, const Newcomer& newcomer, const std::string& address) {
  State& state = turn.state;
  const auto known = state.hosts.by_name.find(newcomer.name);
  const bool replaces = known != state.hosts.by_name.end();
  const HostId id = replaces ? known->second : HostId(state.hosts.next++);
  HostEntry& entry = state.hosts.entries[id];
  Labels labels = newcomer.own;
  std::vector<const Labels*> given{&newcomer.invited};
  const Labels before = entry.host.labels;
  std::vector<std::string> own_before;
  if (replaces) {
    Disown(turn, entry, "the host joined again with another key");
    state.hosts.by_key.erase(entry.host.key);
    Overlay(labels, before);
    given.push_back(&before);
    own_before = entry.host.own_labels;
  }
  Overlay(labels, newcomer.invited);
  if (const DocumentHead* expected = ExpectedHost(state, newcomer.name)) {
    Overlay(labels, expected->labels);
    given.push_back(&expected->labels);
  }
  std::vector<std::string> own = OwnLabels(newcomer.own, given);
  // What the host before it chose stays what a host chose.
  for (auto& name : own_before)
    if (std::ranges::none_of(given, [&](const Labels* labels) {
          return labels != &before && labels->contains(name);
        }))
      own.push_back(std::move(name));
  entry.host = Host{.id = id,
                    .name = newcomer.name,
                    .key = newcomer.key,
                    .state = HostState::kActive,
                    .note = {},
                    .labels = std::move(labels),
                    .facts = {},
                    .store = {},
                    .boot = {},
                    .session = 0,
                    .joined = turn.now.wall,
                    .last_hello = {},
                    .maintenance = {},
                    .own_labels = std::move(own),
                    .invite = newcomer.invite,
                    .certified = turn.now.wall,
                    .certificates = newcomer.certificates};
  state.hosts.by_key[newcomer.key] = id;
  state.hosts.by_name[newcomer.name] = id;
  DropPendingOf(turn, newcomer.name);
  turn.Put(PutHost{entry.host});
  turn.Tell(HostNews{entry.host, false, address});
  return entry;
}

// Whether the host asks again because the answer to its last join was lost.
bool IsLostAnswer(const Turn& turn, const Host& host, const JoinHost& command) {
  return host.invite == command.invite && host.last_hello < host.certified &&
         turn.now.wall < host.certified + kLostAnswer && host.certificates < kMostCertificates;
}

// A host that is known asks for a certificate: it lost the answer to its join, or its certificate
// has ended. A certificate that is good is renewed over the link, never here.
Result<HostJoined> CertificateFor(Turn& turn, const JoinHost& command, HostEntry& entry) {
  Host& host = entry.host;
  std::string why = "the answer to its join was asked for again";
  if (!IsLostAnswer(turn, host, command)) {
    const auto invite = UsableInvite(turn, command.invite, command.name, InviteKind::kHost);
    if (!invite) return Fail(invite.error());
    why = InviteText(**invite) + Ignored(**invite, command.labels);
    host.invite = command.invite;
    host.certified = turn.now.wall;
    host.certificates = 0;
    UseUp(turn, **invite);
  }
  ++host.certificates;
  turn.Put(PutHost{host});
  turn.Audit(command.caller, "agent.certificate", "host " + host.name,
             fmt::format("key {}, {}", host.key, why), {host.id});
  return HostJoined{host, turn.state.cluster};
}

// What is known of this newcomer already: the host it is, the wait it is in, or why it is refused.
std::optional<Result<JoinHost::Answer>> KnownNewcomer(Turn& turn, const JoinHost& command) {
  State& state = turn.state;
  if (const auto by_key = state.hosts.by_key.find(command.key);
      by_key != state.hosts.by_key.end()) {
    const Host& host = state.hosts.entries.at(by_key->second).host;
    if (host.state == HostState::kRevoked)
      return Fail(ErrorCode::kDenied,
                  "the key of host '{}' was revoked ({}); to join again, remove the agent's "
                  "data folder first",
                  host.name, host.note);
    if (host.name != command.name || host.state != HostState::kActive)
      return Fail(ErrorCode::kConflict,
                  "this key belongs to host '{}' already; join with an empty data folder",
                  host.name);
    return CertificateFor(turn, command, state.hosts.entries.at(by_key->second));
  }
  const auto waits = state.hosts.pending.find(command.name);
  if (waits == state.hosts.pending.end() || waits->second.join.key != command.key ||
      waits->second.join.invite != command.invite)
    return std::nullopt;
  const PendingJoin& join = waits->second.join;
  if (!join.rejected.empty()) return JoinRejected{join};
  waits->second.asked = turn.now.mono;
  return JoinWaits{join};
}

Result<PendingJoin> Hold(Turn& turn, const JoinHost& command, const Invite& invite) {
  State& state = turn.state;
  const auto other = state.hosts.pending.find(command.name);
  if (other != state.hosts.pending.end() && other->second.join.rejected.empty() &&
      turn.now.mono - other->second.asked < kPendingPatience)
    return Fail(ErrorCode::kConflict,
                "another machine already waits to take over '{}'; decide about it first with "
                "'muster agents replace {}' or 'muster agents reject {}'",
                command.name, command.name, command.name);
  PendingJoin join{.name = command.name,
                   .key = command.key,
                   .invite = command.invite,
                   .labels = invite.no_own_labels ? Labels{} : command.labels,
                   .invited = invite.labels,
                   .address = command.caller.address,
                   .since = turn.now.wall,
                   .rejected = {}};
  state.hosts.pending[join.name] = {join, turn.now.mono};
  turn.Put(PutPending{join});
  turn.Audit(
      command.caller, "agent.wait", "host " + command.name,
      fmt::format("key {}, {}{}", command.key, InviteText(invite), Ignored(invite, command.labels)),
      {state.hosts.by_name.at(command.name)});
  return join;
}

Result<HostMemory::Pending*> Waiting(Turn& turn, const std::string& name) {
  const auto found = turn.state.hosts.pending.find(name);
  if (found == turn.state.hosts.pending.end() || !found->second.join.rejected.empty())
    return Fail(ErrorCode::kNotFound,
                "no machine waits to take over a host named '{}'; see 'muster agents pending'",
                name);
  return &found->second;
}

// The host whose place a newcomer wants, unless it was removed meanwhile.
std::vector<HostId> HostsNamed(const State& state, const std::string& name) {
  const auto found = state.hosts.by_name.find(name);
  if (found == state.hosts.by_name.end()) return {};
  return {found->second};
}

}  // namespace

void Decide(Turn& turn, const JoinHost& command) {
  if (auto known = KnownNewcomer(turn, command)) return turn.Answer(command, *known);
  const auto invite = UsableInvite(turn, command.invite, command.name, InviteKind::kHost);
  if (!invite) return turn.Answer(command, Fail(invite.error()));
  const bool replaces = turn.state.hosts.by_name.contains(command.name);
  if (replaces && !(*invite)->replace) {
    auto held = Hold(turn, command, **invite);
    if (!held) return turn.Answer(command, Fail(held.error()));
    UseUp(turn, **invite);
    return turn.Answer(command, JoinWaits{std::move(*held)});
  }
  const Labels own = (*invite)->no_own_labels ? Labels{} : command.labels;
  const HostEntry& entry =
      Enrol(turn, {command.name, command.key, own, (*invite)->labels, command.invite, 1},
            command.caller.address);
  std::string detail = fmt::format("key {}, {}{}", command.key, InviteText(**invite),
                                   Ignored(**invite, command.labels));
  UseUp(turn, **invite);
  turn.Audit(command.caller, replaces ? "agent.rejoin" : "agent.join", "host " + command.name,
             std::move(detail), {entry.host.id});
  turn.Answer(command, HostJoined{entry.host, turn.state.cluster});
}

void Decide(Turn& turn, const AcceptJoin& command) {
  const auto waiting = Waiting(turn, command.name);
  if (!waiting) return turn.Answer(command, Fail(waiting.error()));
  const PendingJoin join = (*waiting)->join;  // Enrol drops the original
  if (!command.key.empty() && command.key != join.key)
    return turn.Answer(
        command,
        Fail(ErrorCode::kConflict,
             "another machine waits under '{}' by now; see 'muster agents pending'", command.name));
  if (turn.state.hosts.by_key.contains(join.key))
    return turn.Answer(
        command, Fail(ErrorCode::kConflict,
                      "the key that waits under '{}' has joined under another name; reject it",
                      command.name));
  const HostEntry& entry =
      Enrol(turn, {join.name, join.key, join.labels, join.invited, join.invite, 0}, join.address);
  turn.Audit(command.caller, "agent.replace", "host " + join.name, "key " + join.key,
             {entry.host.id});
  turn.Answer(command, HostChanged{entry.host});
}

void Decide(Turn& turn, const RejectJoin& command) {
  const auto waiting = Waiting(turn, command.name);
  if (!waiting) return turn.Answer(command, Fail(waiting.error()));
  PendingJoin& join = (*waiting)->join;
  join.rejected = "by " + command.caller.name;
  if (!command.reason.empty()) join.rejected += ": " + command.reason;
  turn.Put(PutPending{join});
  turn.Audit(command.caller, "agent.reject", "host " + join.name,
             fmt::format("key {}, {}", join.key, join.rejected), HostsNamed(turn.state, join.name));
  turn.Answer(command, JoinRejected{join});
}

void Decide(Turn& turn, const ListPending& command) {
  PendingJoins answer;
  for (const auto& [name, waiting] : turn.state.hosts.pending)
    if (waiting.join.rejected.empty()) answer.joins.push_back(waiting.join);
  turn.Answer(command, std::move(answer));
}

}  // namespace muster::engine
