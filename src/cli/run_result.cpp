#include "cli/run_result.hpp"

#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli/report.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostGroups = 20;
constexpr std::size_t kMostLines = 50;
constexpr std::size_t kMostSample = 64 << 10;

Result<> PrintSample(const Context& context, ApiClient& api, const std::string& run,
                     const OutcomeGroup& group) {
  if (group.bytes == 0 || group.sample_host.empty()) return {};
  const auto log =
      api.GetRawLog(run, {{"host", group.sample_host}, {"limit", std::to_string(kMostSample)}});
  if (!log) return Fail(log.error());
  std::size_t left = 0;
  const auto lines = FirstLines(log->bytes, kMostLines, left);
  auto text = HostOutput(lines, context.terminal.stdout_tty);
  if (!lines.ends_with('\n')) text += OwnText("\n");
  if (left > 0 || log->next < group.bytes)
    text += OwnLine(fmt::format("… more: muster logs {} --host {}", run, group.sample_host));
  Write(stdout, text);
  return {};
}

}  // namespace

std::string TasksPath(std::string_view run) { return fmt::format("/runs/{}/tasks", Segment(run)); }

Result<json::value> ResultDocument(ApiClient& api, const json::value& run) {
  json::array hosts;
  const auto pages = api.Pages(
      TasksPath(TextOf(run, "id")), {{"limit", "5000"}}, "tasks", [&](const json::value& task) {
        json::object host;
        for (const auto* field : {"host", "state", "exit_code", "attempt", "log"})
          host[field] = FieldOf(task, field);
        for (const auto* field : {"signal", "reason"})
          if (!FieldOf(task, field).is_null()) host[field] = FieldOf(task, field);
        hosts.push_back(std::move(host));
        return true;
      });
  if (!pages) return Fail(pages.error());
  return json::object{
      {"id", FieldOf(run, "id")}, {"state", FieldOf(run, "state")}, {"hosts", std::move(hosts)}};
}

Result<> PrintGroups(const Context& context, ApiClient& api, const std::string& run,
                     const std::vector<OutcomeGroup>& groups) {
  for (std::size_t i = 0; i < groups.size() && i < kMostGroups; ++i) {
    if (i > 0) Write(stdout, "\n");
    Write(stdout, OwnLine(Paint(GroupHead(groups[i]), ColourOf(groups[i].state),
                                context.terminal.colour_out)));
    if (auto ok = PrintSample(context, api, run, groups[i]); !ok) return ok;
  }
  if (groups.size() > kMostGroups)
    Write(stdout, fmt::format("\n… and {} more groups of equal outcome: muster show {}\n",
                              Count(groups.size() - kMostGroups), run));
  return {};
}

}  // namespace muster::cli
