#include "cli/imports/crontab_collect.hpp"

#include <boost/json.hpp>

#include "cli/client/retries.hpp"
#include "cli/runs/report.hpp"
#include "cli/runs/run_end.hpp"
#include "cli/runs/run_follow.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kCollectPage = "1048576";
constexpr std::size_t kMostCollected = 32 << 20;  // of a host, whose output is cut at half of that

Result<std::string> OutputOf(ApiClient& api, const std::string& run, const std::string& host) {
  std::string text;
  for (std::uint64_t from = 0;;) {
    const auto page = api.GetRawLog(run, {{"host", host},
                                          {"stream", "stdout"},
                                          {"from", std::to_string(from)},
                                          {"limit", kCollectPage}});
    if (!page) return Fail(page.error());
    text += page->bytes;
    if (page->next <= from) return text;
    if (text.size() > kMostCollected)
      return Fail(ErrorCode::kInternal, "the output of {} has no end", host);
    from = page->next;
  }
}

// Whether it has output to read; what is wrong with it is told.
bool TakeTask(const json::value& task, CrontabsOfHosts& all) {
  const auto state = TextOf(task, "state");
  if (state == "succeeded") return true;
  const auto reason = TextOf(task, "reason");
  all.notes.push_back(
      {imports::Carried::kLost,
       {TextOf(task, "host"), "", {}, ""},
       fmt::format("its crontabs are not imported: {}{}{}",
                   Outcome(state, NumberOf(task, "exit_code"), NumberOf(task, "signal")),
                   reason.empty() ? "" : ": ", reason)});
  return false;
}

Result<> ReadHosts(ApiClient& api, const std::string& run, CrontabsOfHosts& all) {
  std::vector<std::string> hosts;
  const auto pages = api.Pages(fmt::format("/runs/{}/tasks", Segment(run)), {{"limit", "500"}},
                               "tasks", [&](const json::value& task) {
                                 if (TakeTask(task, all)) hosts.push_back(TextOf(task, "host"));
                                 return true;
                               });
  if (!pages) return Fail(pages.error());
  for (const auto& host : hosts) {
    const auto output = OutputOf(api, run, host);
    if (!output) return Fail(output.error());
    auto collected = imports::ReadCollected(host, *output);
    for (auto& file : collected.files) all.files.push_back(std::move(file));
    for (auto& note : collected.notes) all.notes.push_back(std::move(note));
  }
  return {};
}

}  // namespace

Result<CrontabsOfHosts> CollectCrontabs(const Context& context, const RunOptions& options,
                                        const StartOptions& start, const std::string& root) {
  CrontabsOfHosts all;
  const auto body = RunBody(options, {.script = imports::CollectScript(root), .stdin_data = ""});
  if (!body) return Fail(body.error());
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto started = StartRun(context, *api, *body, start);
  if (!started) return Fail(started.error());
  all.ended = started->code.has_value();
  if (all.ended) {
    all.code = *started->code;
    return all;
  }
  FollowOptions follow;
  follow.run = TextOf(started->answer, "id");
  follow.hosts = static_cast<std::uint64_t>(NumberOf(started->answer, "hosts"));
  follow.from = std::to_string(NumberOf(started->answer, "commit"));
  follow.asks = true;
  const auto left = Follower(context, *api, follow).Watch();
  if (!left) return Fail(left.error());
  if (*left) {
    all.ended = true;
    all.code = **left;
    return all;
  }
  const auto run =
      Persist(context, kResultPatience, [&] { return api->Get("/runs/" + Segment(follow.run)); });
  if (!run) return Fail(run.error());
  all.code = ExitCodeOfRun(*run);
  if (auto read = ReadHosts(*api, follow.run, all); !read) return Fail(read.error());
  return all;
}

}  // namespace muster::cli
