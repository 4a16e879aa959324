#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "domain/records.hpp"
#include "ports/store.hpp"

namespace muster::server {

// One host of a run as it stands, and where more is said about it.
struct TaskRow {
  std::uint32_t ordinal = 0;
  TaskState state = TaskState::kWaiting;
  TaskKey key;  // of the row; attempt 0: there is none

  friend bool operator==(const TaskRow&, const TaskRow&) = default;
};

// Some tasks of a run in its frozen order.
struct RowWindow {
  std::shared_ptr<const Targets> targets;
  std::vector<TaskRow> rows;
  std::optional<std::uint32_t> next;  // `from` of the next window
};

struct RowFilter {
  std::uint32_t from = 0;          // ordinal
  std::optional<TaskState> state;  // as it is shown
  std::string host;
  std::size_t limit = 500;

  // The ordinals that may be in the window.
  struct Span {
    std::uint32_t first = 0;
    std::uint32_t last = 0;  // past it
  };
  Span SpanOf(const Targets& targets) const;
};

// What the rows do not tell.
struct RunNow {
  bool of_stage = false;             // the visits are those of one stage
  bool open = false;                 // hosts wait for the stages that are before them
  std::vector<std::uint8_t> states;  // TaskState by ordinal, of an open run
};

// A window straight from the store, from the last visit backwards, without a table: for a run that
// nobody has asked about. Reads as many rows as the window has in each of the visits it needs.
// `visits` are all of the run, or those of one stage. The filter's state must not be set: it is
// known of no host before its rows are read.
Result<RowWindow> ReadWindow(Store& store, RunId run, std::shared_ptr<const Targets> targets,
                             const std::vector<StageVisit>& visits, const RunNow& now,
                             const RowFilter& filter);

}  // namespace muster::server
