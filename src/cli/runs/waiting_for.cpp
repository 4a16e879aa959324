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

// One look at a run and those below it.
class Look {
 public:
  Look(ApiClient& api, const std::function<bool()>& go_on, PersonWaits& found)
      : api_(api), go_on_(go_on), found_(found) {}

  void AtRun(const json::value& run, const std::string& via, std::size_t depth) {
    const auto id = LineOf(run, "id");
    const auto state = TextOf(run, "state");
    if (state == "paused" && FieldOf(run, "pause").is_object()) {
      found_.waits.push_back({.run = id, .via = via, .visit = nullptr, .paused = run});
      return;
    }
    if (state != "running" || TextOf(run, "job").empty()) return;
    static_cast<void>(api_.Pages(
        fmt::format("/runs/{}/visits", Segment(TextOf(run, "id"))), {{"limit", "1000"}}, "visits",
        [&](const json::value& visit) {
          if (TextOf(visit, "state") == "awaiting_approval") {
            found_.cut = found_.cut || found_.Full();
            if (found_.cut) return false;
            found_.waits.push_back({.run = id, .via = via, .visit = visit, .paused = nullptr});
          }
          AtChild(visit, via.empty() ? LineOf(visit, "stage") : via, depth + 1);
          return !found_.cut;
        }));
  }

  void AtChild(const json::value& visit, const std::string& via, std::size_t depth) {
    const auto id = TextOf(visit, "child");
    if (id.empty() || !IsOpen(visit) || depth > kDeepestJobs) return;
    found_.children = true;
    found_.cut = found_.cut || found_.Full() || !go_on_();
    if (found_.cut || !found_.looked_at.insert(id).second) return;
    const auto child = api_.Get(fmt::format("/runs/{}/summary", Segment(id)));
    if (!child) return;
    found_.busy = found_.busy || IsAtWork(*child);
    AtRun(*child, via, depth);
  }

 private:
  ApiClient& api_;
  const std::function<bool()>& go_on_;
  PersonWaits& found_;
};

}  // namespace

PersonWaits WaitsForPerson(ApiClient& api, const json::value& run,
                           const std::function<bool()>& go_on) {
  PersonWaits found;
  found.busy = IsAtWork(run);
  Look(api, go_on, found).AtRun(run, "", 0);
  return found;
}

void AddWaitsOfChild(ApiClient& api, const json::value& visit, PersonWaits& found) {
  const std::function<bool()> always = [] { return true; };
  Look(api, always, found).AtChild(visit, LineOf(visit, "stage"), 1);
}

std::string WaitText(const PersonWait& wait) {
  const auto who = wait.via.empty() ? wait.run : fmt::format("{} (of {})", wait.run, wait.via);
  if (wait.paused.is_object()) return PausedText(wait.paused, who);
  const auto stage = LineOf(wait.visit, "stage");
  return fmt::format("{} asks: {} · muster approve {} (or reject)",
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
