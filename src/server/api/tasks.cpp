#include <algorithm>
#include <set>

#include <boost/json.hpp>

#include "base/text.hpp"
#include "server/api/host_tasks.hpp"
#include "server/api/known_hosts.hpp"
#include "server/api/routes.hpp"
#include "server/api/views.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

void AllAttempts(Services& services, const CallPtr& call, RunId id, std::size_t limit) {
  const auto targets = services.store.FindTargets(id);
  if (!targets) return call->Fail(targets.error());
  TaskFilter filter;
  filter.last_attempt_only = false;
  if (const auto& host = call->Query("host"); !host.empty()) {
    filter.host = services.live.HostIdOf(host);
    if (!filter.host) return call->Fail(NoSuchHost(services.live, host));
  }
  const auto rows = services.store.ListTasks(id, filter, std::nullopt, limit);
  if (!rows) return call->Fail(rows.error());
  const LogsKept kept = services.keeper.KeptLogs();
  json::array list;
  for (const auto& row : *rows)
    list.push_back(
        TaskView(row, row.key.ordinal < (*targets)->size() ? (**targets)[row.key.ordinal].name : "",
                 row.state, kept));
  call->Json(200, {{"tasks", std::move(list)}, {"next", nullptr}});
}

void ListTasks(Services& services, const CallPtr& call) {
  const auto id = ParseRunId(call->Part("id"));
  if (!id) return call->Fail(id.error());
  const auto limit = call->QueryNumber("limit", 500, 1, 5000);
  if (!limit) return call->Fail(limit.error());
  if (call->Query("attempts") == "all") return AllAttempts(services, call, *id, *limit);
  const auto from = call->QueryNumber("cursor", 0, 0, UINT32_MAX);
  if (!from) return call->Fail(from.error());
  const auto& wanted_name = call->Query("state");
  const auto wanted = ParseTaskState(wanted_name);
  if (!wanted_name.empty() && !wanted)
    return call->Fail(400, "invalid", fmt::format("state: '{}' is not a task state", wanted_name));
  const auto window = services.results.RowsOf({*id, call->Query("stage")},
                                              {.from = static_cast<std::uint32_t>(*from),
                                               .state = wanted,
                                               .host = call->Query("host"),
                                               .limit = *limit});
  if (!window) return call->Fail(window.error());
  std::vector<TaskKey> keys;
  for (const auto& row : window->rows)
    if (row.key.attempt) keys.push_back(row.key);
  const auto records = services.store.FindTasks(keys);
  if (!records) return call->Fail(records.error());
  const LogsKept kept = services.keeper.KeptLogs();
  json::array list;
  auto record = records->value.begin();
  for (const auto& row : window->rows) {
    const std::string& name = (*window->targets)[row.ordinal].name;
    const TaskRecord* known = nullptr;
    if (row.key.attempt)
      if (const auto& found = *record++; found) known = &*found;
    list.push_back(known != nullptr ? TaskView(*known, name, row.state, kept)
                                    : WaitingTaskView(name, row.ordinal, row.state));
  }
  json::value next = nullptr;
  if (window->next) next = std::to_string(*window->next);
  call->Json(200, {{"tasks", std::move(list)}, {"next", std::move(next)}});
}

struct LogRequest {
  TaskKey task;
  LogMark mark;
  std::uint64_t from = 0;
  std::size_t limit = 0;
  std::optional<Stream> only;
  LogLoss loss = LogLoss::kNone;
};

struct AttemptWanted {
  std::string host;
  std::string stage;          // "": of the task that the host's result follows from
  std::uint32_t attempt = 0;  // 0: the last
};

// The last of the rows that fit, nullopt when there is none.
Result<std::optional<TaskRecord>> LastFitting(Services& services, RunId run, HostId host,
                                              const AttemptWanted& wanted) {
  TaskFilter filter;
  filter.host = host;
  filter.last_attempt_only = wanted.attempt == 0;
  const auto rows = services.store.ListTasks(run, filter, std::nullopt, 1000);
  if (!rows) return Fail(rows.error());
  std::set<Visit> visits;
  if (!wanted.stage.empty()) {
    const auto of_stage = VisitsOf(services.store, run, wanted.stage);
    if (!of_stage) return Fail(of_stage.error());
    for (const auto& visit : *of_stage) visits.insert(visit.visit);
  }
  std::optional<TaskRecord> last;
  for (const auto& row : *rows)
    if ((wanted.attempt == 0 || row.key.attempt.value == wanted.attempt) &&
        (wanted.stage.empty() || visits.contains(row.key.visit)))
      last = row;
  return last;
}

Result<TaskRecord> FindAttempt(Services& services, const Call& call, RunId run,
                               const AttemptWanted& wanted) {
  const auto targets = services.store.FindTargets(run);
  if (!targets) return Fail(targets.error());
  const auto target = std::ranges::find(**targets, wanted.host, &Target::name);
  if (target == (*targets)->end())
    return Fail(ErrorCode::kNotFound, "run {} has no host '{}'", FormatRunId(run), wanted.host);
  if (wanted.stage.empty() && wanted.attempt == 0) {
    const auto tasks =
        TasksOfHost(services.store, run, target->host, [&] { return call.GoesOn(); });
    if (!tasks) return Fail(tasks.error());
    const auto* decides = tasks->Deciding();
    if (decides != nullptr && decides->note.key.run) return decides->note;
  }
  auto last = LastFitting(services, run, target->host, wanted);
  if (!last) return Fail(last.error());
  if (*last) return std::move(**last);
  if (wanted.attempt != 0)
    return Fail(ErrorCode::kNotFound, "{} has no attempt {} in run {}", wanted.host, wanted.attempt,
                FormatRunId(run));
  TaskRecord none;  // its turn has not come: no output yet
  none.key = {run, Visit(1), static_cast<std::uint32_t>(target - (*targets)->begin()), target->host,
              Attempt{}};
  return none;
}

Result<LogRequest> ReadLogRequest(Services& services, const Call& call) {
  const auto id = ParseRunId(call.Part("id"));
  if (!id) return Fail(id.error());
  const auto& host = call.Query("host");
  if (host.empty()) return Fail(ErrorCode::kInvalid, "host: say which host's output");
  const auto attempt = call.QueryNumber("attempt", 0, 0, UINT32_MAX);
  if (!attempt) return Fail(attempt.error());
  const auto from = call.QueryNumber("from", 0, 0, INT64_MAX);
  if (!from) return Fail(from.error());
  const auto limit = call.QueryNumber("limit", 1 << 20, 1, 8 << 20);
  if (!limit) return Fail(limit.error());
  const auto tail = call.QueryNumber("tail", 0, 0, INT64_MAX);
  if (!tail) return Fail(tail.error());
  LogRequest request;
  request.limit = *limit;
  request.from = *from;
  if (const auto& stream = call.Query("stream"); stream == "stdout")
    request.only = Stream::kStdout;
  else if (stream == "stderr")
    request.only = Stream::kStderr;
  else if (!stream.empty() && stream != "both")
    return Fail(ErrorCode::kInvalid, "stream: expected both, stdout or stderr");
  const auto record = FindAttempt(services, call, *id,
                                  {.host = host,
                                   .stage = call.Query("stage"),
                                   .attempt = static_cast<std::uint32_t>(*attempt)});
  if (!record) return Fail(record.error());
  request.task = record->key;
  request.mark = record->log;
  request.loss = LossOf(*record, services.keeper.KeptLogs());
  if (*tail > 0) {
    const auto end = services.logs.DurableEnd(request.task);
    if (!end) return Fail(end.error());
    request.from = *end > *tail ? *end - *tail : 0;
  }
  return request;
}

// Bytes that were proven once and are not there now are gone.
bool IsExpired(const LogRequest& request, const std::vector<LogChunk>& chunks) {
  if (request.loss != LogLoss::kNone) return true;
  const bool whole =
      request.mark.state == LogState::kComplete || request.mark.state == LogState::kCut;
  return whole && request.from < request.mark.bytes &&
         (chunks.empty() || chunks.front().offset > request.from);
}

net::Headers LogHeaders(const LogRequest& request, std::uint64_t next) {
  return {{"Muster-Next-Offset", std::to_string(next)},
          {"Muster-Log-State", std::string(Name(request.mark.state))},
          {"Muster-Log-Missing", std::string(Name(request.loss))},
          {"Muster-Attempt", std::to_string(request.task.attempt.value)}};
}

std::uint64_t EndOf(const std::vector<LogChunk>& chunks, std::uint64_t from) {
  return chunks.empty() ? from : chunks.back().offset + chunks.back().data.size();
}

// `chunks` are the first of what was asked for; what follows them is read some thousands at a time,
// as it may be in very small pieces.
void AnswerBytes(Services& services, Call& call, const LogRequest& request,
                 std::vector<LogChunk> chunks) {
  const std::uint64_t until = request.from + request.limit;
  std::string bytes;
  std::uint64_t next = request.from;
  while (!chunks.empty()) {
    for (const auto& chunk : chunks)
      if (!request.only || chunk.stream == *request.only) bytes += chunk.data;
    next = EndOf(chunks, next);
    if (next >= until) break;
    auto more = services.logs.Read(request.task, next, until - next);
    if (!more) return call.Fail(more.error());
    chunks = std::move(*more);
  }
  call.Text(200, "application/octet-stream", std::move(bytes), LogHeaders(request, next));
}

void AnswerChunks(Call& call, const LogRequest& request, const std::vector<LogChunk>& chunks) {
  const std::uint64_t next = EndOf(chunks, request.from);
  json::array list;
  for (const auto& chunk : chunks)
    if (!request.only || chunk.stream == *request.only)
      list.push_back(json::object{{"offset", chunk.offset},
                                  {"stream", Name(chunk.stream)},
                                  {"time", TimeView(chunk.time)},
                                  {"data_base64", ToBase64(chunk.data)}});
  call.Json(200,
            {{"chunks", std::move(list)},
             {"next", next},
             {"state", Name(request.mark.state)},
             {"missing", LossView(request.loss)},
             {"bytes", request.mark.bytes},
             {"attempt", request.task.attempt.value}},
            LogHeaders(request, next));
}

void ReadLog(Services& services, const CallPtr& call) {
  auto request = ReadLogRequest(services, *call);
  if (!request) return call->Fail(request.error());
  auto chunks = services.logs.Read(request->task, request->from, request->limit);
  if (!chunks) return call->Fail(chunks.error());
  if (IsExpired(*request, *chunks)) request->mark.state = LogState::kExpired;
  const bool as_json =
      net::FindHeader(call->request().headers, "Accept").find("application/json") !=
      std::string_view::npos;
  if (as_json) return AnswerChunks(*call, *request, *chunks);
  AnswerBytes(services, *call, *request, std::move(*chunks));
}

}  // namespace

std::vector<Route> TaskRoutes(Services& services) {
  return {
      {"GET", "/api/v1/runs/{id}/tasks", Privilege::kView,
       [&services](const CallPtr& call) { ListTasks(services, call); }},
      {"GET", "/api/v1/runs/{id}/log", Privilege::kView,
       [&services](const CallPtr& call) { ReadLog(services, call); }, kOnRecord},
  };
}

}  // namespace muster::server::api
