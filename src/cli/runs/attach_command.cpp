#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/runs/follow_commands.hpp"
#include "cli/runs/report.hpp"
#include "cli/runs/run_choice.hpp"
#include "cli/runs/run_end.hpp"

namespace muster::cli {
namespace {

constexpr const char* kAttachExamples = R"(Examples:
  muster attach                your last run
  muster attach r12            follow it, as muster run and start --wait do
  muster attach r12 --grouped  progress, and equal outcomes at the end

Shows what the run printed so far and what it prints from now on. Of a run that
has ended it prints the result. The exit code is that of muster run; 7: the run
is paused or waits for an approval, and there is no terminal.)";

struct AttachFlags {
  std::string run;
  bool wait_paused = false;
  bool live = false;
  bool grouped = false;
};

FollowOptions AttachOptions(const Context& context, const AttachFlags& flags,
                            const boost::json::value& run) {
  const bool job = !TextOf(run, "job").empty();
  FollowOptions follow;
  follow.run = TextOf(run, "id");
  follow.hosts = static_cast<std::uint64_t>(NumberOf(run, "hosts"));
  follow.job = job;
  follow.asks = true;
  follow.stays = flags.wait_paused || context.CanAsk();
  follow.lines = !job && context.OutputFormat() == Format::kJsonl;
  follow.live = context.OutputFormat() == Format::kTable && !flags.grouped &&
                (flags.live || (!job && follow.hosts <= kMostLive));
  return follow;
}

Result<int> Attach(const Context& context, const AttachFlags& flags) {
  if (flags.live && flags.grouped)
    return Fail(ErrorCode::kInvalid, "--live and --grouped exclude each other");
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto id = ChooseRunQuietly(*api, flags.run);
  if (!id) return Fail(id.error());
  const auto run = Persist(context, kPatience, [&] { return api->Get("/runs/" + Segment(*id)); });
  if (!run) return Fail(run.error());
  const auto follow = AttachOptions(context, flags, *run);
  if (HasEnded(*run) && !follow.lines) return PrintEnd(context, *api, *id, {});
  context.Say(fmt::format("run {} on {}: {}", *id, Hosts(follow.hosts), TextOf(*run, "title")));
  return FollowToEnd(context, *api, follow);
}

}  // namespace

void AddAttach(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("attach", "Follow a run until it has ended");
  const auto flags = std::make_shared<AttachFlags>();
  command->footer(kAttachExamples);
  command->add_option("run", flags->run, "Which run (default: your last)")->type_name("RUN");
  command->add_flag("--wait-paused", flags->wait_paused,
                    "Stay also while it waits for a person, without a terminal");
  command->add_flag("--live", flags->live,
                    "Show every host's lines as they come, however many hosts");
  command->add_flag("--grouped", flags->grouped, "Show equal outcomes grouped, however few hosts");
  command->callback([&context, flags] {
    context.action = [&context, flags] { return Attach(context, *flags); };
  });
}

}  // namespace muster::cli
