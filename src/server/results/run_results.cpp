#include "server/results/run_results.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <tuple>

#include "server/results/shared_room.hpp"

namespace muster::server {
namespace {

constexpr std::size_t kPage = 2000;
constexpr std::size_t kMostRanges = 64;  // of hosts whose rows are read by themselves
// Characters of host names. A range of hosts takes two at least.
constexpr SharedRoom::Bounds kNames{.all = 80'000, .most = 2000, .least = 160};
constexpr SharedRoom::Bounds kRanges{
    .all = kNames.all / 2, .most = kNames.most / 2, .least = kNames.least / 2};

// A group as it was under the lock; names come after it.
struct Seen {
  const Outcome* outcome = nullptr;
  const IntervalSet* hosts = nullptr;
};

// Groups of equal outcome, whatever their tasks printed.
class Merger {
 public:
  void Add(const Outcome& outcome, const IntervalSet& hosts) {
    const auto [found, added] = groups_.try_emplace(
        std::tuple(outcome.state, outcome.exit_code, outcome.signal, outcome.log));
    Group& group = found->second;
    if (added) {
      group.outcome = outcome;
      group.outcome.stdout_sha256 = group.outcome.stderr_sha256 = group.outcome.masked_sha256 = {};
    } else if (group.outcome.reason != outcome.reason) {
      group.outcome.reason.clear();
    }
    for (const auto& [first, last] : hosts.Ranges(hosts.Count()))
      group.hosts.InsertRange(first, last);
  }
  void ShowIn(std::vector<Seen>& seen) const {
    for (const auto& [key, group] : groups_) seen.push_back({&group.outcome, &group.hosts});
  }

 private:
  struct Group {
    Outcome outcome;
    IntervalSet hosts;
  };
  std::map<std::tuple<TaskState, int, int, LogState>, Group> groups_;
};

int RankOf(TaskState state) {
  if (state == TaskState::kSucceeded) return 2;
  return IsFinal(state) ? 0 : 1;
}

bool ComesFirst(const Seen& a, const Seen& b) {
  return std::tuple(RankOf(a.outcome->state), b.hosts->Count(), a.outcome->state,
                    a.hosts->First()) <
         std::tuple(RankOf(b.outcome->state), a.hosts->Count(), b.outcome->state, b.hosts->First());
}

// All visits of a run, oldest first.
Result<std::vector<StageVisit>> AllVisits(Store& store, RunId run) {
  std::vector<StageVisit> visits;
  for (;;) {
    auto page = store.ListVisits(run, visits.empty() ? Visit{} : visits.back().visit, kPage);
    if (!page) return Fail(page.error());
    if (page->empty()) return visits;
    std::ranges::move(*page, std::back_inserter(visits));
  }
}

}  // namespace

RunResults::RunResults(Store& store, LiveStates live, Limits limits)
    : store_(store), live_(std::move(live)), limits_(limits) {}

void RunResults::Take(const Batch& committed) {
  base::Lock lock(mutex_);
  for (const auto& change : committed.changes) TakeOne(change);
}

void RunResults::TakeOne(const Change& change) {
  if (const auto* task = std::get_if<PutTask>(&change)) {
    Update(task->task.key.run,
           [&](const std::string&, TaskTable& table) { table.Take(task->task); });
  } else if (const auto* visit = std::get_if<PutVisit>(&change)) {
    Update(visit->run, [&](const std::string& stage, TaskTable& table) {
      if (stage.empty() || stage == visit->visit.name || table.Knows(visit->visit.parent))
        table.Enter(visit->visit);
    });
  } else if (const auto* run = std::get_if<PutRun>(&change)) {
    TakeState(run->run);
  } else if (const auto* made = std::get_if<PutTargets>(&change)) {
    if (entries_.contains(made->run)) return;
    Entry& entry = entries_[made->run];
    entry.targets = made->targets;
    AddTable(entry, {made->run, ""})->ready = true;
    MakeRoom({made->run, ""});
  } else if (const auto* dropped = std::get_if<DropRun>(&change)) {
    const auto entry = entries_.find(dropped->run);
    if (entry == entries_.end()) return;
    std::vector<Key> keys;
    for (const auto& [stage, table] : entry->second.tables) keys.emplace_back(dropped->run, stage);
    for (const Key& key : keys) DropTable(key);
  }
}

void RunResults::TakeState(const Run& run) {
  const auto entry = entries_.find(run.id);
  if (entry == entries_.end()) return;
  const auto table = entry->second.tables.find("");
  if (table == entry->second.tables.end()) return;
  table->second->tasks.SetEnded(IsFinal(run.state));
  table->second->told = true;
}

void RunResults::Take(const std::vector<engine::News>& news) {
  std::vector<const engine::TaskNews*> without_row;
  for (const auto& one : news) {
    const auto* task = std::get_if<engine::TaskNews>(&one);
    if (task == nullptr) continue;
    if (task->state == TaskState::kQueued || task->state == TaskState::kRunning)
      without_row.push_back(task);
  }
  if (without_row.empty()) return;
  base::Lock lock(mutex_);
  for (const auto* task : without_row)
    Update(task->task.run,
           [&](const std::string&, TaskTable& table) { table.Take(task->task, task->state); });
}

template <typename Do>
void RunResults::Update(RunId run, const Do& change) {
  const auto entry = entries_.find(run);
  if (entry == entries_.end()) return;
  for (auto& [stage, table] : entry->second.tables) {
    change(stage, table->tasks);
    Count(*table);
    uses_.splice(uses_.begin(), uses_, table->use);
  }
  if (places_ > limits_.most_places) MakeRoom({run, ""});
}

void RunResults::Forget() {
  base::Lock lock(mutex_);
  while (!uses_.empty()) DropTable(Key(uses_.back()));
}

std::shared_ptr<RunResults::Table> RunResults::AddTable(Entry& entry, const Key& key) {
  const auto hosts = static_cast<std::uint32_t>(entry.targets->size());
  uses_.push_front(key);
  auto table = std::make_shared<Table>(
      Table{.tasks = key.second.empty() ? TaskTable::OfRun(hosts) : TaskTable::OfStage(hosts),
            .use = uses_.begin()});
  Count(*table);
  entry.tables[key.second] = table;
  return table;
}

void RunResults::Count(Table& table) {
  if (!table.listed) return;
  const std::size_t cost = table.tasks.Cost();
  places_ += cost - table.counted;
  table.counted = cost;
}

void RunResults::DropTable(const Key& key) {
  const auto entry = entries_.find(key.first);
  if (entry == entries_.end()) return;
  const auto found = entry->second.tables.find(key.second);
  if (found == entry->second.tables.end()) return;
  Table& table = *found->second;
  places_ -= table.counted;
  table.listed = false;
  uses_.erase(table.use);
  entry->second.tables.erase(found);
  if (entry->second.tables.empty()) entries_.erase(entry);
}

void RunResults::MakeRoom(const Key& keep) {
  while (places_ > limits_.most_places && !uses_.empty() && uses_.back() != keep)
    DropTable(Key(uses_.back()));
}

Result<RunResults::Found> RunResults::Find(const Choice& choice) {
  const auto found = Open(choice);
  if (!found) return Fail(found.error());
  {
    base::Lock lock(mutex_);
    if (found->table->ready) return found;
  }
  // Listed before the scan: what is committed meanwhile comes in as well.
  if (const auto filled = Fill(choice, *found); !filled) return Fail(filled.error());
  base::Lock lock(mutex_);
  found->table->ready = true;
  return found;
}

Result<RunResults::Found> RunResults::Open(const Choice& choice) {
  const Key key{choice.run, choice.stage};
  std::shared_ptr<const Targets> targets;
  for (;;) {
    {
      base::Lock lock(mutex_);
      auto entry = entries_.find(choice.run);
      if (entry == entries_.end() && targets) {
        entry = entries_.try_emplace(choice.run).first;
        entry->second.targets = targets;
      }
      if (entry != entries_.end()) {
        const auto known = entry->second.tables.find(choice.stage);
        if (known == entry->second.tables.end()) {
          Found found{entry->second.targets, AddTable(entry->second, key)};
          MakeRoom(key);
          return found;
        }
        uses_.splice(uses_.begin(), uses_, known->second->use);
        return Found{entry->second.targets, known->second};
      }
    }
    auto read = store_.FindTargets(choice.run);
    if (!read) return Fail(read.error());
    targets = std::move(*read);
  }
}

Result<> RunResults::Fill(const Choice& choice, const Found& found) {
  const auto visits = choice.stage.empty() ? AllVisits(store_, choice.run)
                                           : VisitsOf(store_, choice.run, choice.stage);
  if (!visits) {
    base::Lock lock(mutex_);
    if (visits.error().code == ErrorCode::kNotFound) DropTable({choice.run, choice.stage});
    return Fail(visits.error());
  }
  {
    base::Lock lock(mutex_);
    for (const auto& visit : *visits) found.table->tasks.Enter(visit);
  }
  // From the last on: of earlier ones, most hosts need none.
  for (auto visit = visits->rbegin(); visit != visits->rend(); ++visit) {
    for (const auto& range : WantedOf(found, *visit))
      if (auto filled = FillVisit(found, choice.run, visit->visit, range); !filled) return filled;
  }
  const auto run = store_.FindRun(choice.run);
  if (!run) return Fail(run.error());
  const auto live = live_(choice.run);
  base::Lock lock(mutex_);
  if (run->value && !found.table->told) found.table->tasks.SetEnded(IsFinal(run->value->state));
  for (std::uint32_t i = 0; i < live.size(); ++i)
    found.table->tasks.Adopt(i, static_cast<TaskState>(live[i]));
  return {};
}

std::vector<Ordinals::Range> RunResults::WantedOf(const Found& found, const StageVisit& visit) {
  base::Lock lock(mutex_);
  const Ordinals wanted = found.table->tasks.Wanted(visit);
  const auto& ranges = wanted.Ranges();
  if (ranges.size() <= kMostRanges) return ranges;
  return {{ranges.front().first, ranges.back().second}};
}

Result<> RunResults::FillVisit(const Found& found, RunId run, Visit visit,
                               const Ordinals::Range& range) {
  TaskFilter filter;
  filter.last_attempt_only = false;  // the table knows which is the last
  // Before the first row, and after every row before it.
  const auto [first, last] = range;
  TaskKey after{run, visit, first - 1, HostId(UINT64_MAX), Attempt(UINT32_MAX)};
  if (first == 0)
    after = {run, Visit(visit.value - 1), UINT32_MAX, HostId(UINT64_MAX), Attempt(UINT32_MAX)};
  const std::size_t limit = std::min<std::size_t>(kPage, 10 * std::size_t{last - first});
  for (;;) {
    const auto rows = store_.ListTasks(run, filter, after, limit);
    if (!rows) return Fail(rows.error());
    base::Lock lock(mutex_);
    for (const auto& row : *rows) {
      if (row.key.visit != visit || row.key.ordinal >= last) return {};
      found.table->tasks.Take(row);
    }
    Count(*found.table);
    if (rows->size() < limit) return {};
    after = rows->back().key;
  }
}

std::shared_ptr<const HostFolds> RunResults::FoldsOf(RunId run, const Found& found) {
  {
    base::Lock lock(mutex_);
    const auto entry = entries_.find(run);
    if (entry != entries_.end() && entry->second.folds) return entry->second.folds;
  }
  auto folds = std::make_shared<const HostFolds>(found.targets);
  base::Lock lock(mutex_);
  if (const auto entry = entries_.find(run); entry != entries_.end()) entry->second.folds = folds;
  return folds;
}

Result<RunResults::Grouped> RunResults::GroupsOf(const Choice& choice, GroupBy by,
                                                 std::size_t most) {
  const auto found = Find(choice);
  if (!found) return Fail(found.error());
  const auto folds = FoldsOf(choice.run, *found);
  Grouped grouped;
  std::vector<std::vector<IntervalSet::Range>> ranges;
  Merger merger;
  {
    base::Lock lock(mutex_);
    const TaskTable& table = found->table->tasks;
    std::array<Outcome, std::tuple_size_v<TaskTable::OpenStates>> open;
    std::vector<Seen> seen;
    for (std::size_t i = 0; i < open.size(); ++i) {
      open[i].state = static_cast<TaskState>(i);
      if (table.Open()[i].Empty()) continue;
      if (by == GroupBy::kOutcome)
        merger.Add(open[i], table.Open()[i]);
      else
        seen.push_back({&open[i], &table.Open()[i]});
    }
    const auto& ended = by == GroupBy::kMaskedOutput ? table.MaskedGroups() : table.Exact();
    for (const auto& [outcome, group] : ended) {
      if (group.hosts.Empty()) continue;
      if (by == GroupBy::kOutcome)
        merger.Add(outcome, group.hosts);
      else
        seen.push_back({&outcome, &group.hosts});
    }
    merger.ShowIn(seen);
    grouped.groups_total = seen.size();
    grouped.total = table.Tasks();
    const std::size_t shown = std::min(most, seen.size());
    std::ranges::partial_sort(seen, seen.begin() + static_cast<std::ptrdiff_t>(shown), ComesFirst);
    SharedRoom room(kRanges, shown);
    for (std::size_t i = 0; i < shown; ++i) {
      const auto& [outcome, hosts] = seen[i];
      grouped.groups.push_back({.outcome = *outcome,
                                .count = hosts->Count(),
                                .ordinal = hosts->First(),
                                .sample = table.At(hosts->First())});
      ranges.push_back(hosts->Ranges(room.Most()));
      room.Take(ranges.back().size());
    }
  }
  SharedRoom room(kNames, grouped.groups.size());
  for (std::size_t i = 0; i < grouped.groups.size(); ++i) {
    Group& group = grouped.groups[i];
    group.hosts = folds->Fold(ranges[i], group.count, room.Most());
    room.Take(group.hosts.size());
    group.sample_host = (*found->targets)[group.ordinal].name;
  }
  return grouped;
}

Result<std::string> RunResults::StatesOf(const Choice& choice) {
  const auto found = Find(choice);
  if (!found) return Fail(found.error());
  base::Lock lock(mutex_);
  return found->table->tasks.States();
}

std::optional<RunResults::Found> RunResults::Ready(const Choice& choice) {
  base::Lock lock(mutex_);
  const auto entry = entries_.find(choice.run);
  if (entry == entries_.end()) return std::nullopt;
  const auto table = entry->second.tables.find(choice.stage);
  if (table == entry->second.tables.end() || !table->second->ready) return std::nullopt;
  uses_.splice(uses_.begin(), uses_, table->second->use);
  return Found{entry->second.targets, table->second};
}

Result<RowWindow> RunResults::RowsOf(const Choice& choice, const RowFilter& filter) {
  if (const auto ready = Ready(choice)) return RowsFrom(choice, *ready, filter);
  if (filter.state) {
    const auto found = Find(choice);
    if (!found) return Fail(found.error());
    return RowsFrom(choice, *found, filter);
  }
  auto targets = store_.FindTargets(choice.run);
  if (!targets) return Fail(targets.error());
  const bool of_stage = !choice.stage.empty();
  const auto visits =
      of_stage ? VisitsOf(store_, choice.run, choice.stage) : AllVisits(store_, choice.run);
  if (!visits) return Fail(visits.error());
  const auto run = store_.FindRun(choice.run);
  if (!run) return Fail(run.error());
  const bool open = !of_stage && run->value && !IsFinal(run->value->state);
  return ReadWindow(store_, choice.run, std::move(*targets), *visits,
                    {.of_stage = of_stage, .open = open, .states = live_(choice.run)}, filter);
}

RowWindow RunResults::RowsFrom(const Choice& choice, const Found& found,
                               const RowFilter& filter) const {
  RowWindow window{.targets = found.targets};
  const auto span = filter.SpanOf(*found.targets);
  base::Lock lock(mutex_);
  const TaskTable& table = found.table->tasks;
  for (std::uint32_t i = span.first; i < span.last; ++i) {
    const auto place = table.At(i);
    if (!place.part || (filter.state && place.state != *filter.state)) continue;
    if (window.rows.size() == filter.limit) {
      window.next = i;
      break;
    }
    window.rows.push_back(
        {i, place.state, {choice.run, place.visit, i, (*found.targets)[i].host, place.attempt}});
  }
  return window;
}

std::size_t RunResults::Places() const {
  base::Lock lock(mutex_);
  return places_;
}

Result<std::vector<StageVisit>> VisitsOf(Store& store, RunId run, const std::string& stage) {
  auto all = AllVisits(store, run);
  if (!all) return Fail(all.error());
  std::vector<StageVisit> of_stage;
  std::set<Visit> known;
  for (auto& visit : *all) {
    if (visit.name != stage && !known.contains(visit.parent)) continue;
    if (!of_stage.empty() && of_stage.back().pass < visit.pass) of_stage.clear();
    known.insert(visit.visit);
    of_stage.push_back(std::move(visit));
  }
  if (!of_stage.empty()) return of_stage;
  const auto found = store.FindRun(run);
  if (!found) return Fail(found.error());
  const bool has = found->value && std::ranges::any_of(found->value->stages, [&](const auto& one) {
                     return one.name == stage;
                   });
  if (has) return of_stage;
  return Fail(ErrorCode::kNotFound, "run {} has no stage '{}'", FormatRunId(run), stage);
}

}  // namespace muster::server
