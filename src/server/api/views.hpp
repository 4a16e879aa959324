#pragma once

#include <boost/json/object.hpp>

#include "domain/records.hpp"
#include "server/keeping/logs_kept.hpp"
#include "server/live/live_view.hpp"

namespace muster::server::api {

// Records as the API shows them; openapi.yaml has the shapes.
boost::json::object CountsView(const TaskCounts& counts);
boost::json::object TaskView(const TaskRecord& record, const std::string& host, TaskState shown,
                             const LogsKept& kept = {});
// Why the output of a task is gone since its mark; kNone when it is there, or never was.
LogLoss LossOf(const TaskRecord& record, const LogsKept& kept);
// null for kNone.
boost::json::value LossView(LogLoss loss);
boost::json::object WaitingTaskView(const std::string& host, std::uint32_t ordinal,
                                    TaskState state);
// `disk_full`: of this server, which closes links then; a note says so of a host without a link.
boost::json::object HostView(const LiveView::HostView& host, Now now, bool disk_full = false);
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
