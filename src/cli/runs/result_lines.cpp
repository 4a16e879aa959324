#include "cli/runs/result_lines.hpp"

#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli/runs/run_result.hpp"
#include "cli/terminal/output.hpp"
#include "domain/task.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostStream = 64 << 10;
// Output comes a little after the end it belongs to.
constexpr auto kPause = std::chrono::milliseconds(100);
// Hosts asked about in one go, so that signals and progress are not kept waiting.
constexpr std::size_t kAtOnce = 50;

void PutStream(json::object& line, const std::string& name, const std::string& bytes) {
  if (IsUtf8(bytes))
    line[name] = bytes;
  else
    line[name + "_base64"] = ToBase64(bytes);
}

// Adds stdout and stderr of a task to its line.
Result<> PutOutput(ApiClient& api, const std::string& run, const json::value& task,
                   json::object& line) {
  std::string out;
  std::string err;
  bool cut = TextOf(FieldOf(task, "log"), "state") == "cut";
  const auto attempt = NumberOf(task, "attempt");
  for (std::uint64_t from = 0; attempt > 0;) {
    const auto part = api.GetLog(run, {{"host", TextOf(task, "host")},
                                       {"attempt", std::to_string(attempt)},
                                       {"from", std::to_string(from)}});
    if (!part) return Fail(part.error());
    for (const auto& piece : part->pieces) (piece.stream == "stderr" ? err : out) += piece.data;
    const bool full = out.size() > kMostStream || err.size() > kMostStream;
    cut = cut || full;
    if (full || part->pieces.empty() || part->next <= from) break;
    from = part->next;
  }
  out.resize(std::min(out.size(), kMostStream));
  err.resize(std::min(err.size(), kMostStream));
  PutStream(line, "stdout", out);
  PutStream(line, "stderr", err);
  line["cut"] = cut;
  return {};
}

}  // namespace

void ResultLines::Ended(const std::string& host) {
  if (!seen_.insert(host).second) return;
  waiting_.push_back(host);
  if (!due_) due_ = Clock::now();
}

Result<> ResultLines::FindEnded() {
  const auto pages =
      api_.Pages(TasksPath(run_), {{"limit", "5000"}}, "tasks", [&](const json::value& task) {
        const auto state = ParseTaskState(TextOf(task, "state"));
        if (state && IsFinal(*state)) Ended(TextOf(task, "host"));
        return true;
      });
  if (!pages) return Fail(pages.error());
  return {};
}

Result<> ResultLines::PrintTask(const json::value& task) {
  json::object line;
  for (const auto* field :
       {"host", "state", "exit_code", "signal", "reason", "attempt", "started", "ended", "log"})
    line[field] = FieldOf(task, field);
  if (auto ok = PutOutput(api_, run_, task, line); !ok) return ok;
  WriteCopy(stdout, JsonLine(line));
  seen_.insert(TextOf(task, "host"));
  printed_.insert(TextOf(task, "host"));
  return {};
}

Result<> ResultLines::Print() {
  due_ = Clock::now() + kPause;
  for (auto left = std::min(waiting_.size(), kAtOnce); left > 0; --left) {
    const std::string host = waiting_.front();
    const auto page = api_.Get(TasksPath(run_), {{"host", host}});
    if (!page) return Fail(page.error());
    const auto& tasks = ListOf(*page, "tasks");
    waiting_.pop_front();
    if (tasks.empty()) continue;
    if (TextOf(FieldOf(tasks.front(), "log"), "state") == "open" &&
        NumberOf(tasks.front(), "attempt") > 0) {
      waiting_.push_back(host);
      continue;
    }
    if (auto ok = PrintTask(tasks.front()); !ok) {
      waiting_.push_front(host);
      return ok;
    }
  }
  if (waiting_.empty()) due_.reset();
  return {};
}

Result<> ResultLines::PrintRest() {
  Result<> outcome;
  const auto pages =
      api_.Pages(TasksPath(run_), {{"limit", "5000"}}, "tasks", [&](const json::value& task) {
        if (!printed_.contains(TextOf(task, "host"))) outcome = PrintTask(task);
        return outcome.has_value();
      });
  if (!pages) return Fail(pages.error());
  return outcome;
}

}  // namespace muster::cli
