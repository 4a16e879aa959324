#include "cli/runs/late_reports.hpp"

#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli/runs/report.hpp"
#include "cli/runs/run_result.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostLate = 20;

}  // namespace

std::string LateReports(ApiClient& api, const json::value& run) {
  if (NumberOf(FieldOf(run, "counts"), "lost") == 0) return {};
  std::string text;
  std::size_t reports = 0;
  const auto pages =
      api.Pages(TasksPath(TextOf(run, "id")), {{"state", "lost"}, {"limit", "5000"}}, "tasks",
                [&](const json::value& task) {
                  const auto& late = FieldOf(task, "late");
                  if (late.is_object() && ++reports <= kMostLate)
                    text += fmt::format("{}: lost; later it reported: {}\n", LineOf(task, "host"),
                                        Outcome(LineOf(late, "state"), NumberOf(late, "exit_code"),
                                                NumberOf(late, "signal")));
                  return true;
                });
  if (!pages || reports == 0) return {};
  if (reports > kMostLate)
    text += fmt::format("… and {} more: muster show {} -o json\n", Count(reports - kMostLate),
                        LineOf(run, "id"));
  return "\n" + text;
}

}  // namespace muster::cli
