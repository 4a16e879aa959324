#include "cli/command_groups.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

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

std::string GroupedCommands(const CLI::App& root) {
  constexpr std::size_t kColumns = 79;
  constexpr std::size_t kIndent = 28;
  std::vector<std::pair<std::string, std::string>> groups;
  for (const auto& group : CommandGroups()) groups.emplace_back(group.title, "");
  groups.emplace_back(kOtherGroup, "");
  for (auto& [title, text] : groups) {
    std::size_t column = kIndent;
    for (const auto* command : root.get_subcommands([](const CLI::App*) { return true; })) {
      const auto& name = command->get_name();
      if (command->get_group() != title) continue;
      const bool breaks = !text.empty() && column + name.size() + 1 > kColumns;
      if (breaks) column = kIndent;
      text += fmt::format("{}{}",
                          breaks         ? "\n" + std::string(kIndent, ' ')
                          : text.empty() ? ""
                                         : " ",
                          name);
      column += name.size() + 1;
    }
  }
  std::string lines;
  for (const auto& [title, text] : groups)
    if (!text.empty()) lines += fmt::format("  {:<{}}{}\n", title, kIndent - 2, text);
  return lines;
}

std::string GroupedHelp::make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const {
  if (app->get_parent() != nullptr) return HelpFormatter::make_subcommands(app, mode);
  std::string text;
  for (const auto& group : CommandGroups())
    text += CommandLines(*app, group.title, group.title, group.commands);
  return text + CommandLines(*app, kOtherGroup, kOtherGroup, {});
}

}  // namespace muster::cli
