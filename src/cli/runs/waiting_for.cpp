#include "cli/runs/waiting_for.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "cli/runs/report.hpp"
#include "cli/terminal/output.hpp"
#include "domain/nesting.hpp"
#include "domain/run.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

bool IsAtWork(const json::value& run) {
  const TaskCounts counts = CountsOf(FieldOf(run, "counts"));
  return counts[TaskState::kSent] + counts[TaskState::kRunning] > 0;
}

bool IsOpen(const json::value& visit) {
  const auto state = TextOf(visit, "state");
  return state == "running" || state == "paused";
}

void Look(ApiClient& api, const json::value& run, const std::string& via, std::size_t depth,
          PersonWaits& found);

void LookAtChild(ApiClient& api, const json::value& visit, const std::string& via,
                 std::size_t depth, PersonWaits& found) {
  const auto id = TextOf(visit, "child");
  if (id.empty() || !IsOpen(visit) || depth > kDeepestJobs) return;
  found.children = true;
  const auto child = api.Get(fmt::format("/runs/{}/summary", Segment(id)));
  if (!child) return;
  found.busy = found.busy || IsAtWork(*child);
  Look(api, *child, via, depth, found);
}

void Look(ApiClient& api, const json::value& run, const std::string& via, std::size_t depth,
          PersonWaits& found) {
  const auto id = TextOf(run, "id");
  const auto state = TextOf(run, "state");
  if (state == "paused" && FieldOf(run, "pause").is_object()) {
    found.waits.push_back({.run = id, .via = via, .visit = nullptr, .paused = run});
    return;
  }
  if (state != "running" || TextOf(run, "job").empty()) return;
  static_cast<void>(api.Pages(
      fmt::format("/runs/{}/visits", Segment(id)), {{"limit", "1000"}}, "visits",
      [&](const json::value& visit) {
        if (TextOf(visit, "state") == "awaiting_approval")
          found.waits.push_back({.run = id, .via = via, .visit = visit, .paused = nullptr});
        LookAtChild(api, visit, via.empty() ? TextOf(visit, "stage") : via, depth + 1, found);
        return true;
      }));
}

}  // namespace

PersonWaits WaitsForPerson(ApiClient& api, const json::value& run) {
  PersonWaits found;
  found.busy = IsAtWork(run);
  Look(api, run, "", 0, found);
  return found;
}

PersonWaits WaitsOfChild(ApiClient& api, const json::value& visit) {
  PersonWaits found;
  LookAtChild(api, visit, TextOf(visit, "stage"), 1, found);
  return found;
}

std::string WaitText(const PersonWait& wait) {
  const auto who = wait.via.empty() ? wait.run : fmt::format("{} (of {})", wait.run, wait.via);
  if (wait.paused.is_object()) return PausedText(wait.paused, who);
  const auto stage = TextOf(wait.visit, "stage");
  return fmt::format("{} asks: {}; muster approve {} (or reject)",
                     wait.via.empty() ? stage : fmt::format("{} of {}", stage, who),
                     TextOf(wait.visit, "message"), wait.run);
}

std::string KeyOf(const PersonWait& wait) {
  const auto& pause = FieldOf(wait.paused, "pause");
  return pause.is_object() ? fmt::format("{} paused {}", wait.run, TextOf(pause, "at"))
                           : fmt::format("{} {} {}", wait.run, NumberOf(wait.visit, "visit"),
                                         TextOf(wait.visit, "approval"));
}

}  // namespace muster::cli
