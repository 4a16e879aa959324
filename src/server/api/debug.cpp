// What the running server does: its threads, and its own log.

#include <fstream>
#include <sstream>
#include <unistd.h>

#include <boost/json.hpp>

#include "server/api/fields.hpp"
#include "server/api/routes.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::uint64_t kMostLines = 4096;
constexpr std::uint32_t kMostRaiseMs = 3'600'000;

// State and CPU time of a thread, as the kernel tells them (proc(5), /proc/PID/stat).
void AddKernelView(json::object& view, pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string text;
  if (thread == 0 || !std::getline(file, text)) return;
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string state;
  std::string skipped;
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  fields >> state;
  for (int i = 0; i < 10; ++i) fields >> skipped;
  fields >> user >> system;
  view["kernel_state"] = state;
  view["cpu_ms"] = (user + system) * 1000 / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
}

json::object ActivityView(const base::Activity::View& activity) {
  json::object counters;
  for (const auto& [name, value] : activity.counters) counters[name] = value;
  json::object view{{"name", activity.name},
                    {"thread", activity.thread},
                    {"state", activity.busy ? "busy" : "waiting"},
                    {"work", activity.work},
                    {"since_ms", activity.since.count()},
                    {"done", activity.done},
                    {"busy_ms", activity.busy_time.count()},
                    {"longest_ms", activity.longest.count()},
                    {"queued", activity.queued ? json::value(*activity.queued) : json::value()},
                    {"counters", std::move(counters)}};
  AddKernelView(view, activity.thread);
  return view;
}

void Loops(Services& services, const CallPtr& call) {
  json::array loops;
  for (const auto& activity : services.activities()) loops.push_back(ActivityView(activity));
  call->Json(200, {{"loops", std::move(loops)}});
}

void ReadOwnLog(Services& services, const CallPtr& call) {
  const auto limit = call->QueryNumber("limit", 100, 1, kMostLines);
  if (!limit) return call->Fail(limit.error());
  const auto after = call->QueryNumber("after", 0, 0, UINT64_MAX);
  if (!after) return call->Fail(after.error());
  const auto& level = call->Query("level");
  const auto page = services.log.Read(level.empty() ? "debug" : level, *after, *limit);
  if (!page) return call->Fail(page.error());
  json::array lines;
  for (const auto& line : page->lines)
    lines.push_back({{"number", line.number},
                     {"time", FormatTime(line.time)},
                     {"level", line.level},
                     {"message", line.message}});
  call->Json(200, {{"lines", std::move(lines)},
                   {"next", page->next},
                   {"lost", page->lost},
                   {"level", page->level}});
}

void RaiseLog(Services& services, const CallPtr& call) {
  auto fields = Fields::Of(*call);
  if (!fields) return call->Fail(fields.error());
  std::string level;
  std::optional<std::uint32_t> ms;
  if (auto read = fields->Text("level", level).Number("for_ms", ms, 1, kMostRaiseMs).Rest(); !read)
    return call->Fail(read.error());
  const auto until = services.clock.Read().wall + Duration(ms.value_or(60'000));
  if (const auto raised = services.log.Raise(level, until); !raised)
    return call->Fail(raised.error());
  call->Json(200, {{"level", level}, {"until", FormatTime(until)}});
}

}  // namespace

std::vector<Route> DebugRoutes(Services& services) {
  return {
      {"GET", "/api/v1/debug/loops", Privilege::kAdmin,
       [&services](const CallPtr& call) { Loops(services, call); }},
      {"GET", "/api/v1/debug/log", Privilege::kAdmin,
       [&services](const CallPtr& call) { ReadOwnLog(services, call); }},
      {"POST", "/api/v1/debug/log", Privilege::kAdmin,
       [&services](const CallPtr& call) { RaiseLog(services, call); }},
  };
}

}  // namespace muster::server::api
