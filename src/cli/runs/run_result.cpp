#include "cli/runs/run_result.hpp"

#include <algorithm>

#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli/client/retries.hpp"
#include "cli/runs/report.hpp"
#include "cli/runs/run_end.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostLines = 50;  // of one sample
constexpr std::size_t kMostSample = 64 << 10;
// What is printed of all groups: samples, each of which is a call to the server, and then the
// groups without.
constexpr std::size_t kMostSamples = 50;
constexpr std::size_t kMostAtTerminal = 50;  // groups
constexpr std::size_t kMostSampled = 256 << 10;
constexpr std::size_t kMostPrinted = 384 << 10;

std::string GroupsPath(std::string_view run) {
  return fmt::format("/runs/{}/groups", Segment(run));
}

bool HasSample(const OutcomeGroup& group) { return group.bytes > 0 && !group.sample_host.empty(); }

// The bytes that were printed.
Result<std::size_t> PrintSample(const Context& context, ApiClient& api, const std::string& run,
                                const OutcomeGroup& group) {
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
  return text.Bytes().size();
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
        for (const auto* field : {"signal", "reason", "late"})
          if (!FieldOf(task, field).is_null()) host[field] = FieldOf(task, field);
        hosts.push_back(std::move(host));
        return true;
      });
  if (!pages) return Fail(pages.error());
  return json::object{
      {"id", FieldOf(run, "id")}, {"state", FieldOf(run, "state")}, {"hosts", std::move(hosts)}};
}

Result<std::vector<OutcomeGroup>> Outcomes(const Context& context, ApiClient& api,
                                           std::string_view run) {
  const auto answer = Persist(context, kResultPatience,
                              [&] { return api.Get(GroupsPath(run), {{"by", "outcome"}}); });
  if (!answer) return Fail(answer.error());
  return GroupsOf(*answer);
}

Result<> PrintGroups(const Context& context, ApiClient& api, const std::string& run) {
  const auto answer = Persist(context, kResultPatience, [&] { return api.Get(GroupsPath(run)); });
  if (!answer) return Fail(answer.error());
  const auto groups = GroupsOf(*answer);
  const auto total = static_cast<std::size_t>(NumberOf(*answer, "groups_total"));
  std::size_t samples = 0;
  std::size_t printed = 0;
  std::size_t shown = 0;
  const auto most =
      context.terminal.stdout_tty ? std::min(groups.size(), kMostAtTerminal) : groups.size();
  for (; shown < most && printed < kMostPrinted; ++shown) {
    const OutcomeGroup& group = groups[shown];
    if (shown > 0) Write(stdout, "\n");
    const auto head =
        OwnLine(Paint(GroupHead(group), ColourOf(group.state), context.terminal.colour_out));
    Write(stdout, head);
    printed += head.Bytes().size();
    if (!HasSample(group)) continue;
    if (samples == kMostSamples || printed >= kMostSampled) {
      Write(stdout,
            OwnLine(fmt::format("… its output: muster logs {} --host {}", run, group.sample_host)));
      continue;
    }
    ++samples;
    const auto sample = PrintSample(context, api, run, group);
    if (!sample) return Fail(sample.error());
    printed += *sample;
  }
  if (shown < total)
    Write(stdout,
          fmt::format("\n… and {} more group{} of equal outcome: muster show {} (all of their "
                      "output: muster logs {})\n",
                      Count(total - shown), total - shown == 1 ? "" : "s", run, run));
  return {};
}

}  // namespace muster::cli
