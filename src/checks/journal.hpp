#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.hpp"
#include "checks/finding.hpp"
#include "domain/task.hpp"
#include "link/step.hpp"

// What nodes wrote down of themselves (muster-agent --history, muster-fleet --history), held
// against what is on record.
namespace muster::checks {

struct JournalEnd {
  TaskState state = TaskState::kFailed;
  int exit_code = 0;
  int signal = 0;

  friend bool operator==(const JournalEnd&, const JournalEnd&) = default;
};

// One line; see link::Moment.
struct JournalEntry {
  link::MomentKind what = link::MomentKind::kWelcomed;
  std::string host;
  std::string store;
  WallTime wall;
  std::optional<link::ServerTime> server_time;
  Term term;
  std::uint64_t session = 0;
  TaskKey task;
  link::ServerTime start_by = 0;
  std::optional<JournalEnd> end;
};
// Fields that it does not know are left alone. kInvalid says what is wrong.
Result<JournalEntry> ParseJournalLine(std::string_view line);

// An attempt as it is on record.
struct JournalRow {
  TaskKey key;
  std::string host;  // name
  std::string store;
  TaskState state = TaskState::kSent;
  Term sent_term;
  std::optional<JournalEnd> end;  // the node's word
  WallTime started;               // by the node's own clock, with `end`
};

// First all journals, line by line; then, read after them, all rows of some runs. Remembers about a
// hundred bytes for each attempt of the journals. Not thread-safe.
class JournalChecker {
 public:
  explicit JournalChecker(std::size_t most_findings) : findings_(most_findings) {}

  // Lines of one file in their order. Files may come in any order, and overlap in hosts.
  void Read(const JournalEntry& entry, std::string_view file);

  void Take(const JournalRow& row);
  // Every row of the run was handed in, or it is known to have none.
  void RunRead(RunId run) { read_.insert(run); }
  // Runs of which an attempt was started in the period, by the nodes' clocks, and that were not
  // read.
  std::set<RunId> Unread(WallTime since, WallTime until) const;
  // What was started and has no row.
  void Finish();

  std::uint64_t lines() const { return lines_; }
  std::uint64_t starts() const { return starts_; }
  std::uint64_t refusals() const { return refusals_; }  // late, stale, or lacking something
  std::size_t nodes() const { return nodes_.size(); }
  const Findings& findings() const { return findings_; }

 private:
  // One data folder.
  struct Node {
    std::string host;
    std::string store;
    WallTime first;  // what the journals cover, by its own clock
    WallTime last;
  };
  struct Welcomed {
    Term term;
    std::uint64_t session = 0;
  };
  struct Known {
    std::uint32_t node = 0;  // that obeyed or started it first
    bool started = false;
    bool on_record = false;
    Term term;  // of the order that was obeyed last
    std::uint64_t session = 0;
    link::ServerTime start_by = 0;
    WallTime wall;
    HostId host;
    std::optional<JournalEnd> end;
  };
  using Place = std::tuple<RunId, Visit, std::uint32_t, Attempt>;
  static Place PlaceOf(const TaskKey& task) {
    return {task.run, task.visit, task.ordinal, task.attempt};
  }
  static TaskKey KeyOf(const Place& place, HostId host);

  std::uint32_t NodeOf(const JournalEntry& entry);
  void Obeyed(const JournalEntry& entry, std::uint32_t node, const Welcomed& welcomed);
  void Started(const JournalEntry& entry, std::uint32_t node);
  void Ended(const JournalEntry& entry);
  void CheckStart(const JournalRow& row, const Known& known);
  void CheckUnheardOf(const JournalRow& row);
  void Find(Finding::Kind kind, const TaskKey& task, std::string text);

  Findings findings_;
  std::uint64_t lines_ = 0;
  std::uint64_t starts_ = 0;
  std::uint64_t refusals_ = 0;
  std::vector<Node> nodes_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> node_of_;  // by host and store
  // By file too: who gives files in another order than they were written is not blamed.
  std::map<std::pair<std::string, std::uint32_t>, Welcomed, std::less<>> welcomed_;
  std::map<Place, Known> known_;
  std::set<RunId> read_;
};

}  // namespace muster::checks
