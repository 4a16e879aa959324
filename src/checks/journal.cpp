#include "checks/journal.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace muster::checks {
namespace {

using Kind = Finding::Kind;
using link::MomentKind;

// A node looks at start_by when it takes the order. Until the process is there it writes to its
// disk and forks, which takes its time on a busy machine.
constexpr link::ServerTime kStarting = 5000;

std::string Describe(const TaskKey& task, std::string_view host) {
  return fmt::format("attempt {} of {} on {} (visit {})", task.attempt.value, FormatRunId(task.run),
                     host, task.visit.value);
}

bool IsKnown(const JournalEnd& end) { return VerdictOf(end.state) != Verdict::kUnknown; }

std::string Describe(const JournalEnd& end) {
  if (end.signal != 0) return fmt::format("{} by signal {}", Name(end.state), end.signal);
  return fmt::format("{} with exit code {}", Name(end.state), end.exit_code);
}

}  // namespace

TaskKey JournalChecker::KeyOf(const Place& place, HostId host) {
  const auto& [run, visit, ordinal, attempt] = place;
  return {run, visit, ordinal, host, attempt};
}

std::uint32_t JournalChecker::NodeOf(const JournalEntry& entry) {
  const auto [at, fresh] =
      node_of_.try_emplace({entry.host, entry.store}, static_cast<std::uint32_t>(nodes_.size()));
  if (fresh) nodes_.push_back({entry.host, entry.store, entry.wall, entry.wall});
  Node& node = nodes_[at->second];
  node.first = std::min(node.first, entry.wall);
  node.last = std::max(node.last, entry.wall);
  return at->second;
}

void JournalChecker::Read(const JournalEntry& entry, std::string_view file) {
  ++lines_;
  const std::uint32_t node = NodeOf(entry);
  Welcomed& welcomed = welcomed_[{std::string(file), node}];
  switch (entry.what) {
    case MomentKind::kWelcomed:
      welcomed.term = std::max(welcomed.term, entry.term);
      welcomed.session = std::max(welcomed.session, entry.session);
      break;
    case MomentKind::kObeyed:
      Obeyed(entry, node, welcomed);
      break;
    case MomentKind::kStarted:
      Started(entry, node);
      break;
    case MomentKind::kEnded:
    case MomentKind::kFound:
      Ended(entry);
      break;
    case MomentKind::kLate:
    case MomentKind::kStale:
    case MomentKind::kRefused:
      ++refusals_;
      break;
    case MomentKind::kKnown:
      break;
  }
}

// May come twice: a node that crashed before it wrote the order down is sent it again.
void JournalChecker::Obeyed(const JournalEntry& entry, std::uint32_t node,
                            const Welcomed& welcomed) {
  const std::string what = Describe(entry.task, entry.host);
  if (entry.term < welcomed.term)
    Find(Kind::kTerms, entry.task,
         fmt::format("{}: an order of term {} was obeyed after a Welcome of term {}", what,
                     entry.term.value, welcomed.term.value));
  else if (entry.session < welcomed.session)
    Find(Kind::kTerms, entry.task,
         fmt::format("{}: an order of session {} was obeyed in session {}", what, entry.session,
                     welcomed.session));
  if (entry.start_by != 0 && entry.server_time && *entry.server_time > entry.start_by)
    Find(Kind::kLate, entry.task,
         fmt::format("{}: the order was obeyed {} ms after its start_by", what,
                     *entry.server_time - entry.start_by));
  const auto [at, fresh] = known_.try_emplace(PlaceOf(entry.task));
  Known& known = at->second;
  if (fresh) known.node = node;
  known.host = entry.task.host;
  known.term = entry.term;
  known.session = entry.session;
  known.start_by = entry.start_by;
  if (!known.started) known.wall = entry.wall;
}

void JournalChecker::Started(const JournalEntry& entry, std::uint32_t node) {
  ++starts_;
  const auto [at, fresh] = known_.try_emplace(PlaceOf(entry.task));
  Known& known = at->second;
  const std::string what = Describe(entry.task, entry.host);
  if (known.started)
    Find(Kind::kDoubled, entry.task,
         fmt::format("{} was started at {} by {} and at {} by {} (data folders {} and {})", what,
                     FormatTime(known.wall), nodes_[known.node].host, FormatTime(entry.wall),
                     entry.host, nodes_[known.node].store, entry.store));
  if (known.start_by != 0 && known.session == entry.session && entry.server_time &&
      *entry.server_time > known.start_by + kStarting)
    Find(Kind::kLate, entry.task,
         fmt::format("{} was started {} ms after its start_by", what,
                     *entry.server_time - known.start_by));
  if (!known.started) known.node = node;
  known.started = true;
  known.host = entry.task.host;
  known.wall = entry.wall;
}

// A node that lost its disk's last seconds finds a task lost whose end it has told.
void JournalChecker::Ended(const JournalEntry& entry) {
  const auto at = known_.find(PlaceOf(entry.task));
  if (at != known_.end() && entry.end && IsKnown(*entry.end)) at->second.end = entry.end;
}

void JournalChecker::Take(const JournalRow& row) {
  const auto at = known_.find(PlaceOf(row.key));
  if (at == known_.end()) return CheckUnheardOf(row);
  at->second.on_record = true;
  CheckStart(row, at->second);
}

void JournalChecker::CheckStart(const JournalRow& row, const Known& known) {
  const Node& node = nodes_[known.node];
  const std::string what = Describe(row.key, row.host);
  if (node.host != row.host)
    return Find(Kind::kStray, row.key, fmt::format("{} was started on {}", what, node.host));
  if (node.store != row.store)
    Find(Kind::kStray, row.key,
         fmt::format("{} was sent to data folder {} and started from {}", what, row.store,
                     node.store));
  if (known.term && known.term < row.sent_term)
    Find(Kind::kTerms, row.key,
         fmt::format("{} was sent in term {}, and an order of term {} was obeyed", what,
                     row.sent_term.value, known.term.value));
  // With the node's own word it is no contradiction: what was started never came to its process.
  const bool did_not_run = IsFinal(row.state) && VerdictOf(row.state) == Verdict::kDidNotRun;
  if (known.started && did_not_run && !row.end)
    Find(Kind::kOutcome, row.key,
         fmt::format("{} is on record as {}, and was started at {}", what, Name(row.state),
                     FormatTime(known.wall)));
  if (row.end && IsKnown(*row.end) && known.end && !(*row.end == *known.end))
    Find(Kind::kOutcome, row.key,
         fmt::format("{} is on record as {}, and its host wrote down {}", what, Describe(*row.end),
                     Describe(*known.end)));
}

// Of a host whose journal was kept at that time, by its own clock.
void JournalChecker::CheckUnheardOf(const JournalRow& row) {
  const bool ran = row.end && VerdictOf(row.end->state) == Verdict::kRan;
  const auto at = node_of_.find({row.host, row.store});
  if (!ran || at == node_of_.end()) return;
  const Node& node = nodes_[at->second];
  if (row.started <= node.first || row.started >= node.last) return;
  Find(Kind::kLost, row.key,
       fmt::format("{} is on record as {}, and the journal of that time knows nothing of it",
                   Describe(row.key, row.host), Describe(*row.end)));
}

std::set<RunId> JournalChecker::Unread(WallTime since, WallTime until) const {
  std::set<RunId> runs;
  for (const auto& [place, known] : known_)
    if (known.started && known.wall >= since && known.wall < until &&
        !read_.contains(std::get<RunId>(place)))
      runs.insert(std::get<RunId>(place));
  return runs;
}

void JournalChecker::Finish() {
  for (const auto& [place, known] : known_) {
    if (!known.started || known.on_record || !read_.contains(std::get<RunId>(place))) continue;
    const TaskKey task = KeyOf(place, known.host);
    Find(Kind::kStray, task,
         fmt::format("{} was started at {}, and is not on record",
                     Describe(task, nodes_[known.node].host), FormatTime(known.wall)));
  }
}

void JournalChecker::Find(Kind kind, const TaskKey& task, std::string text) {
  findings_.Add({kind, task, std::move(text)});
}

}  // namespace muster::checks
