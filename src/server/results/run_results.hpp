#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "engine/effects.hpp"
#include "ports/store.hpp"
#include "server/results/host_folds.hpp"
#include "server/results/row_window.hpp"
#include "server/results/task_table.hpp"

namespace muster::server {

// What became of runs, for readers: per run, and per stage that somebody asked about, a table of
// tasks and of equal outcomes. A table of a run follows it from its start; one that is not there is
// made by one scan of its rows, and follows from then on. The tables that were longest without use
// go first when there are too many. Never part of a decision. Safe from any thread.
class RunResults {
 public:
  struct Limits {
    std::size_t most_places = 500'000;  // of all tables; about 100 bytes each, names included
  };
  // TaskState by ordinal of an open run, for states that have no row; empty when it is not open.
  using LiveStates = std::function<std::vector<std::uint8_t>(RunId)>;

  RunResults(Store& store, LiveStates live, Limits limits);
  RunResults(Store& store, LiveStates live) : RunResults(store, std::move(live), Limits{}) {}

  void Take(const Batch& committed);
  void Take(const std::vector<engine::News>& news);  // of the same commits, or later
  void Forget();                                     // others may have written to the store

  // Whose tasks: of one stage in its last pass, or with "" of each host the one that decides.
  struct Choice {
    RunId run;
    std::string stage = {};
  };

  // What makes ended tasks alike beside state, exit code, signal and how complete the output is:
  // reason and output; the output without what differs from host to host; nothing.
  enum class GroupBy : std::uint8_t { kOutput, kMaskedOutput, kOutcome };

  // Tasks that ended alike, or stand alike. By outcome, `reason` is "" where reasons differ, and no
  // output is named.
  struct Group {
    Outcome outcome;
    std::uint32_t count = 0;
    std::string hosts;  // folded
    std::string sample_host;
    std::uint32_t ordinal = 0;  // of the sample
    TaskTable::Place sample;
  };
  struct Grouped {
    std::vector<Group> groups;     // failed ones first, then those that are not over; bigger first
    std::size_t groups_total = 0;  // of which `groups` are the first
    std::uint32_t total = 0;       // tasks
  };
  // At most `most` groups. Their lists of hosts are cut by size: the first ones have what room
  // there is. Costs what the groups cost. kNotFound: no such run or stage.
  Result<Grouped> GroupsOf(const Choice& choice, GroupBy by, std::size_t most);

  // TaskState by ordinal, TaskTable::kNoTask for hosts that are not of the stage. kNotFound as
  // above.
  Result<std::string> StatesOf(const Choice& choice);

  // A window of tasks in the run's frozen order, at the cost of its rows: from the table when there
  // is one, else straight from the store; a filter by state makes a table. kNotFound as above.
  Result<RowWindow> RowsOf(const Choice& choice, const RowFilter& filter);

  std::size_t Places() const;  // that all tables take now

 private:
  using Key = std::pair<RunId, std::string>;
  struct Table {
    TaskTable tasks;
    std::list<Key>::iterator use;
    bool ready = false;  // everything that was committed before it was made is in
    bool told = false;   // whether the run has ended, since the table is there
    bool listed = true;
    std::size_t counted = 0;  // of places_
  };
  struct Entry {
    std::shared_ptr<const Targets> targets;
    std::shared_ptr<const HostFolds> folds;  // made when first needed
    std::map<std::string, std::shared_ptr<Table>> tables;
  };
  // What a reader works with; its content is guarded by mutex_, also when it is no longer listed.
  struct Found {
    std::shared_ptr<const Targets> targets;
    std::shared_ptr<Table> table;
  };

  void TakeOne(const Change& change) REQUIRES(mutex_);
  void TakeState(const Run& run) REQUIRES(mutex_);
  template <typename Do>
  void Update(RunId run, const Do& change) REQUIRES(mutex_);
  std::shared_ptr<Table> AddTable(Entry& entry, const Key& key) REQUIRES(mutex_);
  void Count(Table& table) REQUIRES(mutex_);
  void DropTable(const Key& key) REQUIRES(mutex_);
  void MakeRoom(const Key& keep) REQUIRES(mutex_);

  Result<Found> Find(const Choice& choice) EXCLUDES(mutex_);
  std::optional<Found> Ready(const Choice& choice) EXCLUDES(mutex_);
  RowWindow RowsFrom(const Choice& choice, const Found& found, const RowFilter& filter) const
      EXCLUDES(mutex_);
  Result<Found> Open(const Choice& choice) EXCLUDES(mutex_);
  Result<> Fill(const Choice& choice, const Found& found) EXCLUDES(mutex_);
  std::vector<Ordinals::Range> WantedOf(const Found& found, const StageVisit& visit)
      EXCLUDES(mutex_);
  Result<> FillVisit(const Found& found, RunId run, Visit visit, const Ordinals::Range& range)
      EXCLUDES(mutex_);
  std::shared_ptr<const HostFolds> FoldsOf(RunId run, const Found& found) EXCLUDES(mutex_);

  Store& store_;
  const LiveStates live_;
  const Limits limits_;
  mutable base::Mutex mutex_;
  std::map<RunId, Entry> entries_ GUARDED_BY(mutex_);
  std::list<Key> uses_ GUARDED_BY(mutex_);  // of every table, the last one first
  std::size_t places_ GUARDED_BY(mutex_) = 0;
};

// The visits to a stage, and to the stages inside it, in the run's last pass that entered it.
// kNotFound: no such run or stage.
Result<std::vector<StageVisit>> VisitsOf(Store& store, RunId run, const std::string& stage);

}  // namespace muster::server
