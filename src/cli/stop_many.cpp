#include "cli/stop_many.hpp"

#include <set>
#include <vector>

#include <boost/json.hpp>

#include "cli/confirm.hpp"
#include "cli/persist.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr std::array kOpenStates = {"created", "queued", "running", "paused"};

Result<std::vector<std::string>> OpenRuns(const Context& context, ApiClient& api,
                                          const ManyRuns& which) {
  std::vector<std::string> ids;
  for (const char* state : kOpenStates) {
    const auto pages = Persist(context, kPatience, [&] {
      return api.Pages("/runs", {{"state", state}, {"limit", "500"}}, "runs",
                       [&](const json::value& run) {
                         if (which.all || TextOf(run, "job") == which.job)
                           ids.push_back(TextOf(run, "id"));
                         return true;
                       });
    });
    if (!pages) return Fail(pages.error());
  }
  return ids;
}

}  // namespace

Result<int> StopMany(const Context& context, ApiClient& api, const ManyRuns& which,
                     const json::object& body) {
  std::set<std::string> told;
  // Runs that begin while others are stopped are found by the next look.
  for (bool asked = false;; asked = true) {
    const auto runs = OpenRuns(context, api, which);
    if (!runs) return Fail(runs.error());
    std::vector<std::string> fresh;
    for (const auto& id : *runs)
      if (!told.contains(id)) fresh.push_back(id);
    if (fresh.empty()) break;
    const Question question{.act = fmt::format("Stop {} open run{}{}", Count(fresh.size()),
                                               fresh.size() == 1 ? "" : "s",
                                               which.job.empty() ? "" : " of " + which.job),
                            .count = fresh.size()};
    if (!asked && !Agreed(context, which.yes, question)) return kExitInterrupted;
    for (const auto& id : fresh) {
      const auto answer = Persist(context, kPatience, [&] {
        return api.Post(fmt::format("/runs/{}/stop", Segment(id)), body);
      });
      // One that ended meanwhile needs no stop.
      if (!answer && answer.error().code != ErrorCode::kConflict) return Fail(answer.error());
      told.insert(id);
      if (context.OutputFormat() == Format::kTable) context.Say("stopping " + id);
    }
  }
  json::array ids;
  for (const auto& id : told) ids.emplace_back(id);
  if (context.PrintDocument(json::object{{"stopping", std::move(ids)}})) return 0;
  context.Say(told.empty() ? "no such run is open" : fmt::format("stopped {} in all", told.size()));
  return 0;
}

}  // namespace muster::cli
