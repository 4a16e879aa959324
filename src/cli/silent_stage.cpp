#include "cli/silent_stage.hpp"

#include <algorithm>
#include <vector>

#include <boost/json.hpp>
#include <fmt/ranges.h>

#include "cli/output.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostPlaces = 20;

std::string InnerStages(const json::value& run, const std::string& stage) {
  std::vector<std::string> names;
  for (const auto& item : ListOf(run, "stages"))
    if (TextOf(item, "parent") == stage) names.push_back(LineOf(item, "name"));
  return names.empty() ? "" : fmt::format("its stages: {}", fmt::join(names, ", "));
}

// The run of which a row of a stage tells that its host was in it; "" of any other row.
std::string RunOf(const json::value& task) {
  constexpr std::string_view kIn = "in run ";
  const auto reason = LineOf(task, "reason");
  return NumberOf(task, "attempt") == 0 && reason.starts_with(kIn) ? reason.substr(kIn.size()) : "";
}

std::string StartedRuns(ApiClient& api, const std::string& run, const std::string& stage,
                        const std::string& host) {
  std::vector<std::string> runs;
  const auto pages = api.Pages(fmt::format("/runs/{}/tasks", Segment(run)),
                               {{"stage", stage}, {"host", host}, {"limit", "500"}}, "tasks",
                               [&](const json::value& task) {
                                 auto id = RunOf(task);
                                 if (!id.empty() && std::ranges::find(runs, id) == runs.end())
                                   runs.push_back(std::move(id));
                                 return runs.size() < kMostPlaces;
                               });
  if (!pages || runs.empty()) return "";
  if (!host.empty()) return fmt::format("{}: in run {}; muster logs {}", host, runs[0], runs[0]);
  return fmt::format("its runs: {}; muster logs {}", fmt::join(runs, ", "), runs[0]);
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
