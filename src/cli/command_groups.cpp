#include <algorithm>
#include <span>
#include <string_view>

#include "base/result.hpp"
#include "cli/help_format.hpp"

namespace muster::cli {
namespace {

struct CommandGroup {
  const char* title;
  std::vector<std::string_view> commands;  // in the order of the help
};

// A command that is not named here stands last, under "Other"; a test sees to it that none is.
const std::vector<CommandGroup>& CommandGroups() {
  static const std::vector<CommandGroup> groups{
      {"Start work", {"run", "start", "rerun", "cp", "fetch"}},
      {"Follow runs", {"runs", "show", "logs", "wait", "attach", "why", "trace"}},
      {"Steer runs",
       {"stop", "kill", "pause", "resume", "retry", "skip", "set", "approve", "reject", "freeze",
        "thaw"}},
      {"Jobs and other documents", {"jobs", "apply", "get", "delete", "import"}},
      {"Hosts", {"hosts", "fold", "expand", "agents", "invites"}},
      {"Triggers and notices", {"triggers", "slots", "cron", "channels"}},
      {"Access",
       {"login", "logout", "contexts", "context", "whoami", "tokens", "secrets", "audit"}},
      {"Server", {"status", "servers", "check", "debug"}},
      {"This program", {"completion", "version"}}};
  return groups;
}

constexpr const char* kOtherGroup = "Other";

std::string CommandLines(const CLI::App& app, const std::string& group, std::string_view title,
                         std::span<const std::string_view> names, const HelpFormatter& formatter) {
  auto commands = app.get_subcommands([&](const CLI::App* command) {
    return !command->get_name().empty() && command->get_group() == group;
  });
  std::ranges::stable_sort(commands, {}, [&](const CLI::App* command) {
    return std::ranges::find(names, command->get_name()) - names.begin();
  });
  std::string text;
  for (const auto* command : commands) text += formatter.make_subcommand(command);
  return text.empty() ? text : fmt::format("\n{}:\n{}", title, text);
}

}  // namespace

void GroupCommands(CLI::App& root) {
  for (auto* command : root.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;
    command->group(kOtherGroup);
    for (const auto& group : CommandGroups())
      if (std::ranges::find(group.commands, command->get_name()) != group.commands.end())
        command->group(group.title);
  }
}

std::string HelpFormatter::make_subcommands(const CLI::App* app, CLI::AppFormatMode) const {
  if (app->get_parent() != nullptr) return CommandLines(*app, "Subcommands", "Commands", {}, *this);
  std::string text;
  for (const auto& group : CommandGroups())
    text += CommandLines(*app, group.title, group.title, group.commands, *this);
  return text + CommandLines(*app, kOtherGroup, kOtherGroup, {}, *this);
}

}  // namespace muster::cli
