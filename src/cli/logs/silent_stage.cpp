#include "cli/logs/silent_stage.hpp"

#include <vector>

#include <boost/json.hpp>
#include <fmt/ranges.h>

#include "cli/terminal/output.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostRunsNamed = 20;

std::string InnerStages(const json::value& run, const std::string& stage) {
  std::vector<std::string> names;
  for (const auto& item : ListOf(run, "stages"))
    if (TextOf(item, "parent") == stage) names.push_back(LineOf(item, "name"));
  return names.empty() ? "" : fmt::format("its stages: {}", fmt::join(names, ", "));
}

bool HasHost(ApiClient& api, const std::string& run, const std::string& host) {
  const auto tasks =
      api.Get(fmt::format("/runs/{}/tasks", Segment(run)), {{"host", host}, {"limit", "1"}});
  return tasks && !ListOf(*tasks, "tasks").empty();
}

std::string StartedRuns(ApiClient& api, const std::string& run, const std::string& stage,
                        const std::string& host) {
  std::vector<std::string> runs;
  const auto pages = api.Pages(fmt::format("/runs/{}/visits", Segment(run)), {{"limit", "1000"}},
                               "visits", [&](const json::value& visit) {
                                 auto child = LineOf(visit, "child");
                                 if (TextOf(visit, "stage") == stage && !child.empty())
                                   runs.push_back(std::move(child));
                                 return runs.size() < kMostRunsNamed;
                               });
  if (!pages || runs.empty()) return "";
  if (host.empty())
    return fmt::format("its runs: {}; muster logs {}", fmt::join(runs, ", "), runs[0]);
  for (auto child = runs.rbegin(); child != runs.rend(); ++child)
    if (HasHost(api, *child, host))
      return fmt::format("{}: in run {}; muster logs {}", host, *child, *child);
  return "";
}

}  // namespace

std::string WhereOutputIs(ApiClient& api, const std::string& run, const std::string& stage,
                          const std::string& host) {
  const auto whole = api.Get("/runs/" + Segment(run));
  if (!whole) return "";
  if (const auto inner = InnerStages(*whole, stage); !inner.empty())
    return fmt::format("stage {} has no output of its own; {}", stage, inner);
  const auto runs = StartedRuns(api, run, stage, host);
  if (runs.empty() || !host.empty()) return runs;
  return fmt::format("stage {} has no output of its own; {}", stage, runs);
}

}  // namespace muster::cli
