#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli/client/api_client.hpp"
#include "cli/context.hpp"

namespace muster::cli {
namespace {

const boost::json::object* PartOf(const boost::json::object& status, std::string_view name) {
  const auto* part = status.if_contains(name);
  return part == nullptr ? nullptr : part->if_object();
}

std::string Kept(const boost::json::object& retention, std::string_view what) {
  const auto* value = retention.if_contains(fmt::format("{}_ms", what));
  if (value == nullptr || !value->is_int64()) return fmt::format("{} for ever", what);
  return fmt::format("{} {}", what, FormatDuration(Duration(value->as_int64())));
}

std::string FullText(const boost::json::object& disk) {
  return fmt::format(
      "; FULL: nothing can be written to {}, and hosts that bring output are cut off until there "
      "is "
      "room",
      LineOf(disk, "folder"));
}

// "frozen   f435 (rack=r1, until 14:00) by ann: new racks"
std::string FrozenText(const boost::json::value& freeze, const Times& times) {
  std::string what;
  const auto add = [&what](std::string_view more) {
    if (!more.empty()) what += fmt::format("{}{}", what.empty() ? "" : ", ", more);
  };
  const auto scope = LineOf(freeze, "scope");
  const auto job = LineOf(freeze, "job");
  const auto until = TextOf(freeze, "until");
  add(scope == "all" ? "" : "runs of " + scope);
  add(job.empty() ? "" : "job " + job);
  add(LineOf(freeze, "targets"));
  add(what.empty() ? "all runs" : "");
  add(until.empty() ? "until thawed" : "until " + times.Text(until));
  return fmt::format("frozen   {} ({}) by {}: {}\n", LineOf(freeze, "id"), what,
                     LineOf(freeze, "by"), LineOf(freeze, "reason"));
}

// A server of an older version says less.
std::string KeepingText(const boost::json::object& status, const Times& times) {
  std::string text;
  const auto size = [](const boost::json::object& part, std::string_view name) {
    return FormatSize(static_cast<std::uint64_t>(NumberOf(part, name)));
  };
  if (FlagOf(status, "finalize_due"))
    text += "upgrade  every server runs the new version: muster servers finalize\n";
  if (const auto* disk = PartOf(status, "disk"))
    text += fmt::format("disk     {} of {} free{}\n", size(*disk, "free_bytes"),
                        size(*disk, "total_bytes"),
                        FlagOf(*disk, "full")  ? FullText(*disk)
                        : FlagOf(*disk, "low") ? "; LOW: new runs are refused"
                                               : "");
  if (const auto* freezes = status.if_contains("freezes");
      freezes != nullptr && freezes->is_array())
    for (const auto& freeze : freezes->get_array()) text += FrozenText(freeze, times);
  if (const auto* backup = PartOf(status, "last_backup"))
    text += fmt::format("backup   {}, {}, {}\n", Ago(ParseTime(TextOf(*backup, "at")), WallNow()),
                        size(*backup, "bytes"), LineOf(*backup, "file"));
  else if (status.contains("last_backup"))
    text += "backup   never: musterd backup FILE\n";
  if (const auto* restored = PartOf(status, "restored"))
    text += fmt::format("restored {}, from the backup of {}\n", times.Text(TextOf(*restored, "at")),
                        times.Text(TextOf(*restored, "backup")));
  if (const auto* certificates = PartOf(status, "certificates"))
    text += fmt::format("certs    server until {}, CA until {}\n",
                        times.Day(TextOf(*certificates, "server")),
                        times.Day(TextOf(*certificates, "ca")));
  if (const auto* retention = PartOf(status, "retention"))
    text +=
        fmt::format("kept     {}, {}, {}, {}\n", Kept(*retention, "logs"), Kept(*retention, "runs"),
                    Kept(*retention, "audit"), Kept(*retention, "files"));
  return text;
}

// Notices that their channels did not take.
std::string NoticesText(const boost::json::object& status) {
  const auto* notices = PartOf(status, "notices");
  const auto count =
      notices == nullptr ? 0 : static_cast<std::uint64_t>(NumberOf(*notices, "undelivered"));
  if (count == 0) return "";
  return fmt::format("notices  {} undelivered, the oldest made {}; see muster channels\n",
                     Count(count), Ago(ParseTime(TextOf(*notices, "oldest")), WallNow()));
}

// Only what there is to say; a server of an older version says nothing.
std::string TriggersText(const boost::json::object& status) {
  const auto* triggers = PartOf(status, "triggers");
  if (triggers == nullptr || NumberOf(*triggers, "all") == 0) return "";
  const auto count = [&](std::string_view name) {
    return Count(static_cast<std::uint64_t>(NumberOf(*triggers, name)));
  };
  std::string text = fmt::format("triggers {}", count("all"));
  for (const auto name : {"running", "paused", "error"})
    if (NumberOf(*triggers, name) > 0)
      text += fmt::format(", {} {}", count(name),
                          std::string_view(name) == "error" ? "in error" : name);
  return text + "\n";
}

Result<int> Status(const Context& context) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto status = api->Get("/status");
  if (!status) return Fail(status.error());
  if (context.PrintDocument(*status)) return 0;
  const auto number = [&](std::string_view field) {
    return static_cast<std::uint64_t>(NumberOf(*status, field));
  };
  Write(stdout, fmt::format("server   {} ({}), up {}\ncluster  {}, term {}, commit {}{}\nhosts    "
                            "{}, {} online\nruns     {} open\n",
                            context.server, LineOf(*status, "version"),
                            Lasted(Duration(NumberOf(*status, "uptime_ms"))),
                            LineOf(*status, "cluster"), number("term"), number("commit"),
                            FlagOf(*status, "leader") ? "" : " (follower)", Count(number("hosts")),
                            Count(number("online")), Count(number("open_runs"))));
  if (status->is_object())
    Write(stdout, TriggersText(status->as_object()) + NoticesText(status->as_object()) +
                      KeepingText(status->as_object(), context.times));
  return 0;
}

}  // namespace

void AddStatus(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("status", "Show the state of the server");
  command->footer("Examples:\n  muster status\n  muster status -o json");
  command->callback([&context] { context.action = [&context] { return Status(context); }; });
}

void AddVersion(CLI::App& app, Context& context) {
  app.set_version_flag("--version", fmt::format("muster {}", MUSTER_VERSION),
                       "Print the version and exit");
  auto* command = app.add_subcommand("version", "Print the version (also: --version)");
  command->footer("Examples:\n  muster version");
  command->callback([&context] {
    context.action = [&context]() -> Result<int> {
      const boost::json::object version{{"version", MUSTER_VERSION}};
      if (!context.PrintDocument(version))
        Write(stdout, fmt::format("muster {}\n", MUSTER_VERSION));
      return 0;
    };
  });
}

}  // namespace muster::cli
