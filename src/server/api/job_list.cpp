#include <map>
#include <vector>

#include <boost/json.hpp>

#include "server/api/heads_page.hpp"
#include "server/api/routes.hpp"
#include "server/api/views.hpp"

// Jobs with what became of them last and what is next.
namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kTriggersPage = 1000;

struct JobTriggers {
  std::size_t count = 0;
  std::string trigger;  // that is due first
  WallTime next;
};

// Of the jobs in the table.
Result<> AddTriggersOf(Services& services, const Call& call,
                       std::map<std::string, JobTriggers>& by_job) {
  for (std::string after;;) {
    if (auto on = call.GoesOn(); !on) return on;
    const auto page = services.store.ListTriggers(after, kTriggersPage);
    if (!page) return Fail(page.error());
    for (const auto& trigger : *page) {
      const auto job = by_job.find(trigger.spec.job);
      if (job == by_job.end()) continue;
      ++job->second.count;
      const auto state = StateOf(trigger, false);
      if (state != TriggerState::kRunnable || !trigger.next) continue;
      if (job->second.next && job->second.next <= trigger.next) continue;
      job->second.next = trigger.next;
      job->second.trigger = trigger.spec.name;
    }
    if (page->size() < kTriggersPage) return {};
    after = page->back().spec.name;
  }
}

json::value LastView(const std::optional<JobRuns::Last>& last) {
  if (!last) return nullptr;
  return {{"id", FormatRunId(last->run)},
          {"state", Name(last->state)},
          {"created", TimeView(last->created)},
          {"ended", TimeView(last->ended)},
          {"hosts", last->hosts},
          {"counts", CountsView(last->counts)}};
}

json::value NextView(const JobTriggers& triggers) {
  if (!triggers.next) return nullptr;
  return {{"at", TimeView(triggers.next)}, {"trigger", triggers.trigger}};
}

void ListJobs(ListServices& services, const CallPtr& call) {
  Services& common = services.common;
  const auto limit = call->QueryNumber("limit", 100, 1, 1000);
  if (!limit) return call->Fail(limit.error());
  const std::string pattern = call->Query("name");
  std::function<bool(const std::string&)> wanted;
  if (!pattern.empty())
    wanted = [&pattern](const std::string& name) { return MatchesPattern(name, pattern); };
  const auto page = FindHeads(common.store, *call, "job", *limit, wanted);
  if (!page) return call->Fail(page.error());
  std::map<std::string, JobTriggers> triggers;
  for (const auto& head : page->heads) triggers.try_emplace(head.name);
  if (!page->heads.empty()) {
    if (const auto added = AddTriggersOf(common, *call, triggers); !added)
      return call->Fail(added.error());
    const auto read = common.job_runs.ReadEarlier(common.store, [&] { return call->GoesOn(); });
    if (!read) return call->Fail(read.error());
  }
  json::array list;
  for (const auto& head : page->heads) {
    if (const auto on = call->GoesOn(); !on) return call->Fail(on.error());
    auto description = services.descriptions.Of(head);
    if (!description) return call->Fail(description.error());
    const auto& of_job = triggers.at(head.name);
    list.push_back({{"name", head.name},
                    {"description", std::move(description->text)},
                    {"version", head.version},
                    {"by", head.by},
                    {"at", TimeView(head.at)},
                    {"last_run", LastView(common.job_runs.Find(head.name))},
                    {"triggers", of_job.count},
                    {"next_slot", NextView(of_job)}});
  }
  json::value next = nullptr;
  if (!page->next.empty()) next = page->next;
  call->Json(200, {{"jobs", std::move(list)},
                   {"runs_since", TimeView(common.job_runs.Since())},
                   {"next", std::move(next)}});
}

}  // namespace

void ListServices::Post(const CallPtr& call, std::function<void()> list) {
  if (!waiting.Take(call)) return;
  lane.Post(std::move(list), [call] {
    call->Fail(503, "unavailable", "the server is busy; try again shortly", {{"Retry-After", "1"}});
  });
}

std::vector<Route> JobListRoutes(ListServices& services) {
  return {
      {"GET", "/api/v1/jobs", Privilege::kView,
       [&services](const CallPtr& call) {
         services.Post(call, [&services, call] { ListJobs(services, call); });
       }},
  };
}

}  // namespace muster::server::api
