#pragma once

#include <boost/json/object.hpp>

#include "domain/records.hpp"
#include "server/live/live_view.hpp"

namespace muster::server::api {

// Records as the API shows them; openapi.yaml has the shapes.
boost::json::object CountsView(const TaskCounts& counts);
boost::json::object LogView(const LogMark& log);
// `logs_since`: output that came before it is gone (zero: none is).
boost::json::object TaskView(const TaskRecord& record, const std::string& host, TaskState shown,
                             WallTime logs_since = {});
// What is left of a task's output, which retention or a restore may have dropped since its mark.
LogMark LogOf(const TaskRecord& record, WallTime logs_since);
boost::json::object WaitingTaskView(const std::string& host, std::uint32_t ordinal,
                                    TaskState state);
boost::json::object HostView(const LiveView::HostView& host, WallTime now);
boost::json::object SpecView(const RunSpec& spec);

// What became of a stage's tasks so far, those under way included.
TaskCounts StageCounts(const Run& run, std::uint32_t index,
                       const std::optional<LiveView::RunView>& live);
// A stage that goes on while its run is paused is shown as paused too.
StageState ShownStage(const StageProgress& progress, RunState run);
std::string ReasonOfStage(const StageProgress& progress, RunState run);

// A run with what is true of it now: `live` when it is open.
boost::json::object RunView(const Run& run, std::optional<LiveView::RunView> live,
                            std::uint32_t logs_open, CommitNumber commit, bool with_spec);

// null for a time that never came.
boost::json::value TimeView(WallTime time);

}  // namespace muster::server::api
