#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "domain/log.hpp"
#include "domain/run.hpp"
#include "server/live/recent_news.hpp"

// The events of GET /stream as they go over the wire; api/openapi.yaml has their meaning.
namespace muster::server {

// How a run stands. Without a commit the event carries no id: a client then resumes from the one
// before it.
struct RunStep {
  RunId run;
  RunState state = RunState::kCreated;
  TaskCounts counts;
  std::uint32_t logs_open = 0;
  std::optional<CommitNumber> commit;
};
std::string RunEvent(const RunStep& step);
std::string TaskEvent(const TaskStep& step);
std::string LogEvent(const LogChunk& chunk, const std::string& host);
// What the client knows of the run is too old: it fetches again.
std::string ResetEvent(RunId run);
// Output of the run that the stream did not and will not bring: it is fetched.
std::string GapEvent(RunId run);

}  // namespace muster::server
