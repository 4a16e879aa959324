#include "cli/runs/run_start.hpp"

#include <boost/json.hpp>

#include "base/text.hpp"
#include "base/visible.hpp"
#include "cli/client/retries.hpp"
#include "cli/runs/no_match.hpp"
#include "cli/runs/plan_text.hpp"
#include "cli/runs/report.hpp"
#include "cli/runs/run_end.hpp"
#include "cli/terminal/confirm.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

int PrintDryRun(const Context& context, const json::value& plan) {
  if (context.PrintDocument(plan)) return 0;
  std::string text =
      fmt::format("{}: {}\n", Hosts(static_cast<std::uint64_t>(NumberOf(plan, "hosts"))),
                  LineOf(plan, "names"));
  if (const auto offline = NumberOf(plan, "offline_count"); offline > 0) {
    std::string names;
    for (const auto& name : ListOf(plan, "offline"))
      if (name.is_string())
        names += fmt::format("{}{}", names.empty() ? "" : ",", VisibleLine(name.get_string()));
    text += fmt::format("offline: {}\n", names);
  }
  std::string sizes;
  for (const auto& size : ListOf(plan, "batches"))
    sizes += (sizes.empty() ? "" : ", ") + json::serialize(size);
  if (!sizes.empty()) text += fmt::format("batches: {}\n", sizes);
  text += LimitText(plan, "the run") + SharesText(plan) + HindrancesText(plan);
  Write(stdout, text);
  return 0;
}

Result<int> Follow(const Context& context, ApiClient& api, const StartOptions& options,
                   const json::value& started) {
  const bool table = context.OutputFormat() == Format::kTable;
  FollowOptions follow;
  follow.run = TextOf(started, "id");
  follow.hosts = static_cast<std::uint64_t>(NumberOf(started, "hosts"));
  follow.from = std::to_string(NumberOf(started, "commit"));
  follow.asks = true;
  follow.lines = context.OutputFormat() == Format::kJsonl;
  follow.live = table && (options.live || (follow.hosts <= kMostLive && !options.grouped));
  return FollowToEnd(context, api, follow, options.largest_code);
}

}  // namespace

Result<Started> StartRun(const Context& context, ApiClient& api, const json::value& body,
                         const StartOptions& options) {
  bool warned = false;
  if (options.dry_run || (!options.yes && context.CanAsk())) {
    const auto plan = Persist(context, kPatience,
                              [&] { return api.Post("/runs", body, "", {{"dry_run", "true"}}); });
    if (!plan) return Fail(NamedNoMatch(api, plan.error(), TextOf(body, "targets")));
    SayWarnings(context, *plan);
    warned = true;
    if (options.dry_run) return Started{{}, PrintDryRun(context, *plan)};
    if (!Confirmed(context, "Run", *plan)) {
      context.Say("nothing was started");
      return Started{{}, kExitInterrupted};
    }
  }
  const auto key = NewKey();
  auto started = Persist(context, kPatience, [&] { return api.Post("/runs", body, key); });
  if (!started) return Fail(NamedNoMatch(api, started.error(), TextOf(body, "targets")));
  const auto id = TextOf(*started, "id");
  StaysDone(GoesOnText(id), !context.quiet);
  if (options.detach) {
    if (!context.PrintDocument(*started)) Write(stdout, id + "\n");
    SayLeftOut(context, *started);
    if (!warned) SayWarnings(context, *started);
    return Started{std::move(*started), 0};
  }
  context.Say(fmt::format("run {} on {}", id,
                          Hosts(static_cast<std::uint64_t>(NumberOf(*started, "hosts")))));
  SayLeftOut(context, *started);
  if (!warned) SayWarnings(context, *started);
  return Started{std::move(*started), {}};
}

Result<int> StartAndFollow(const Context& context, ApiClient& api, const json::value& body,
                           const StartOptions& options) {
  const auto started = StartRun(context, api, body, options);
  if (!started) return Fail(started.error());
  return started->code ? *started->code : Follow(context, api, options, started->answer);
}

}  // namespace muster::cli
