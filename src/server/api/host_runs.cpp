#include <boost/json.hpp>

#include "server/api/former_hosts.hpp"
#include "server/api/host_tasks.hpp"
#include "server/api/routes.hpp"
#include "server/api/run_summary.hpp"
#include "server/api/views.hpp"

// What runs came to on one host.
namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostRunTitle = 200;
constexpr std::size_t kMostRunReason = 300;

// That a task began is not on record, only known.
TaskState StandingNow(const HostTaskRows::Task* decides,
                      const std::optional<LiveView::RunView>& live, bool open) {
  const TaskState state = HostTaskRows::Standing(decides, open);
  if (state != TaskState::kSent || !live) return state;
  const std::size_t ordinal = decides->note.key.ordinal;
  const bool began = ordinal < live->states.size() &&
                     live->states[ordinal] == static_cast<std::uint8_t>(TaskState::kRunning);
  return began ? TaskState::kRunning : state;
}

json::object ResultView(const HostTaskRows& tasks, const std::optional<LiveView::RunView>& live,
                        bool open) {
  const auto* decides = tasks.Deciding();
  const TaskState state = StandingNow(decides, live, open);
  json::object view{{"result", Name(state)}};
  if (decides == nullptr || !decides->note.key.run) {
    view["exit_code"] = nullptr;
    view["reason"] = "";
    return view;
  }
  const auto task = TaskView(decides->note, "", state);
  view["exit_code"] = task.at("exit_code");
  view["reason"] = Clipped(std::string(task.at("reason").as_string()), kMostRunReason);
  return view;
}

Result<json::object> HostRunView(Services& services, const Call& call, const Run& run,
                                 const std::vector<HostId>& hosts) {
  HostTaskRows tasks;
  for (const HostId host : hosts) {
    auto found = TasksOfHost(services.store, run.id, host, [&] { return call.GoesOn(); });
    if (!found) return Fail(found.error());
    if (!found->All().empty()) tasks = std::move(*found);
  }
  const auto live = services.live.FindRun(run.id, true);
  const RunState state = live ? live->state : run.state;
  json::object view{{"id", FormatRunId(run.id)},
                    {"state", Name(state)},
                    {"title", Clipped(run.spec.title, kMostRunTitle)},
                    {"job", run.spec.job},
                    {"by", run.by},
                    {"created", TimeView(run.created)},
                    {"ended", TimeView(run.ended)}};
  for (auto& [name, value] : ResultView(tasks, live, !IsFinal(state)))
    view[name] = std::move(value);
  return view;
}

void ListHostRuns(Services& services, const CallPtr& call) {
  const auto limit = call->QueryNumber("limit", 10, 1, 100);
  if (!limit) return call->Fail(limit.error());
  const auto hosts = HostsNamed(services, call->Part("name"));
  if (!hosts) return call->Fail(hosts.error());
  RunId before;
  if (const auto& cursor = call->Query("cursor"); !cursor.empty()) {
    const auto id = ParseRunId(cursor);
    if (!id) return call->Fail(400, "invalid", "cursor: use the 'next' of the page before");
    before = *id;
  }
  const auto runs =
      ListRunsOf(services.store, *hosts, {}, before, *limit, [&] { return call->GoesOn(); });
  if (!runs) return call->Fail(runs.error());
  json::array list;
  for (const auto& run : *runs) {
    auto view = HostRunView(services, *call, run, *hosts);
    if (!view) return call->Fail(view.error());
    list.push_back(std::move(*view));
  }
  json::value next = nullptr;
  if (runs->size() == *limit) next = FormatRunId(runs->back().id);
  call->Json(200, {{"runs", std::move(list)}, {"next", std::move(next)}});
}

}  // namespace

std::vector<Route> HostRunRoutes(Services& services) {
  return {
      {"GET", "/api/v1/hosts/{name}/runs", Privilege::kView,
       [&services](const CallPtr& call) { ListHostRuns(services, call); }},
  };
}

}  // namespace muster::server::api
