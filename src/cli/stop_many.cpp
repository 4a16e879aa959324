#include "cli/stop_many.hpp"

#include <set>
#include <vector>

#include <boost/json.hpp>

#include "cli/persist.hpp"
#include "cli/question.hpp"

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

bool Agreed(const Context& context, const ManyRuns& which, std::size_t runs) {
  if (which.yes || !context.CanAsk()) return true;
  const auto answer =
      Ask(fmt::format("Stop {} open run{} {}in {}? [y/N] ", runs, runs == 1 ? "" : "s",
                      which.job.empty() ? "" : fmt::format("of {} ", which.job), context.Where()));
  return answer && (*answer == "y" || *answer == "Y" || *answer == "yes");
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
    if (!asked && !Agreed(context, which, fresh.size())) {
      context.Say("nothing was stopped");
      return kExitInterrupted;
    }
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
