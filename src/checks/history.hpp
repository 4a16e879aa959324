#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checks/finding.hpp"
#include "checks/term_ledger.hpp"
#include "domain/host_result.hpp"
#include "domain/records.hpp"

// Whether what is on record of runs can have happened as it says: nothing lost, nothing doubled,
// nothing before its time. Works from the rows alone and shares no code with the engine; the
// simulation holds its own histories against the same rules.
namespace muster::checks {

// A record that says so may be followed by another attempt of the same task without a second
// thought: that one failed, or did not run.
bool MayBeRepeated(TaskState ended) noexcept;

struct HistoryCounts {
  std::uint64_t runs = 0;
  std::uint64_t tasks = 0;     // a host's work in a visit of a stage
  std::uint64_t attempts = 0;  // rows
  std::uint64_t open = 0;      // attempts that were not over
};

// Fed run by run: Begin, its rows, End. Remembers of earlier runs only counts, terms and findings;
// of the current one a few numbers for each visit and each host. Not thread-safe.
class HistoryChecker {
 public:
  struct Options {
    // The batch up to which the record is looked at: one that was durable before the first row was
    // read. Rows change while they are read, each by itself; those of later batches are left out,
    // so what is looked at is the record of one moment.
    CommitNumber horizon;
    std::size_t most_findings = 100;
    // The name of a run's host, for sentences; may be empty.
    std::function<std::string(const TaskKey&)> host_name = {};
  };

  explicit HistoryChecker(Options options);

  // `visits`: all of the run's, in order, read after `run`. Neither plan nor targets are needed.
  void Begin(const Run& run, const std::vector<StageVisit>& visits);
  // Every attempt of the run, in the order (visit, ordinal, attempt).
  void Take(const TaskRecord& row);
  void End();

  const HistoryCounts& counts() const { return counts_; }
  const Findings& findings() const { return findings_; }  // those of terms are not among them
  const TermLedger& terms() const { return terms_; }

 private:
  // What later rows are held against.
  struct Row {
    TaskKey key;
    TaskState state = TaskState::kSent;
    bool open = false;
    bool stop_wished = false;
    CommitNumber ended;
    Term sent_term;
  };
  // When the work of a visit and of those inside it was done.
  struct Extent {
    CommitNumber first_sent;
    TaskKey first;
    CommitNumber last_ended;
    TaskKey last;
    std::optional<TaskKey> open;

    void Join(const Extent& other);
  };
  struct VisitState {
    StageVisit visit;
    TaskCounts counts;
    Extent extent;
  };

  void CheckRow(const TaskRecord& row);
  void CheckPlace(const TaskRecord& row);
  void CheckAgainstRun(const TaskRecord& row);
  void CheckFirst(const TaskRecord& row);
  void CheckNext(const Row& before, const TaskRecord& row);
  void CloseTask();
  void TakeResultsBefore(Visit visit);
  void TakeResult(const StageVisit& visit, std::uint32_t ordinal, TaskState state);
  void CheckOrder();
  Extent ExtentOf(const std::vector<Visit>& visits) const;
  void CheckCounts();
  bool Ended() const;  // the run, at the horizon
  bool Open(const TaskRecord& row) const;
  std::string Describe(const TaskKey& task) const;
  std::string Describe(const VisitState& visit) const;
  void Find(Finding::Kind kind, const TaskKey& task, std::string text);

  Options options_;
  HistoryCounts counts_;
  Findings findings_;
  TermLedger terms_;

  Run run_;
  std::map<Visit, VisitState> visits_;
  std::vector<HostTasks<>> of_host_;  // by ordinal
  std::map<Visit, VisitState>::iterator next_visit_;
  std::optional<Row> last_;
};

}  // namespace muster::checks
