#include "server/live/stream_events.hpp"

#include <string_view>

#include <boost/json.hpp>

#include "base/text.hpp"

namespace muster::server {
namespace {

namespace json = boost::json;

std::string Event(std::string_view name, std::optional<CommitNumber> id, const json::object& data) {
  std::string text;
  if (id) text += fmt::format("id: {}\n", id->value);
  return text + fmt::format("event: {}\ndata: {}\n\n", name, json::serialize(data));
}

json::object CountsJson(const TaskCounts& counts) {
  json::object object;
  for (std::size_t i = 0; i < kTaskStates; ++i)
    if (counts.by_state[i] != 0) object[Name(static_cast<TaskState>(i))] = counts.by_state[i];
  return object;
}

}  // namespace

std::string RunEvent(const RunStep& step) {
  return Event("run", step.commit,
               {{"id", FormatRunId(step.run)},
                {"state", Name(step.state)},
                {"counts", CountsJson(step.counts)},
                {"logs_open", step.logs_open},
                {"exit_code", ExitCodeOf(step.counts)}});
}

std::string TaskEvent(const TaskStep& step) {
  return Event("task", step.commit,
               {{"run", FormatRunId(step.run)},
                {"host", step.host},
                {"ordinal", step.ordinal},
                {"attempt", step.attempt.value},
                {"state", Name(step.state)},
                {"exit_code", step.exit_code},
                {"signal", step.signal},
                {"reason", step.reason}});
}

std::string LogEvent(const LogChunk& chunk, const std::string& host) {
  return Event("log", std::nullopt,
               {{"run", FormatRunId(chunk.task.run)},
                {"host", host},
                {"attempt", chunk.task.attempt.value},
                {"offset", chunk.offset},
                {"stream", Name(chunk.stream)},
                {"time", FormatTime(chunk.time)},
                {"data_base64", ToBase64(chunk.data)}});
}

std::string ResetEvent(RunId run) {
  return Event("reset", std::nullopt, {{"run", FormatRunId(run)}});
}

std::string GapEvent(RunId run) { return Event("gap", std::nullopt, {{"run", FormatRunId(run)}}); }

}  // namespace muster::server
