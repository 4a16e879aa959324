#include "cli/usage.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.hpp"
#include "base/similar.hpp"
#include "help/manual.hpp"

namespace muster::cli {
namespace {

using help::PathOf;

// The command that was reached before something did not fit.
const CLI::App& Reached(const CLI::App& root) {
  const auto chosen = root.get_subcommands();
  return chosen.empty() ? root : Reached(*chosen.front());
}

std::vector<std::string> CommandsOf(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* below : command.get_subcommands([](const CLI::App*) { return true; }))
    if (!below->get_group().empty()) names.push_back(below->get_name());
  return names;
}

std::vector<std::string> OptionsOf(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* at = &command; at != nullptr; at = at->get_parent())
    for (const auto* option : at->get_options([](const CLI::Option*) { return true; }))
      for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

const CLI::Option* EmptyOption(const CLI::App& command) {
  if (command.get_group().empty()) return nullptr;
  for (const auto* option : command.get_options([](const CLI::Option*) { return true; }))
    if (std::ranges::find(option->results(), "") != option->results().end()) return option;
  const auto chosen = command.get_subcommands();
  return chosen.empty() ? nullptr : EmptyOption(*chosen.front());
}

// The first that is required and was not given.
const CLI::Option* MissingOption(const CLI::App& command) {
  for (const auto* option : command.get_options([](const CLI::Option*) { return true; }))
    if (option->get_required() && option->count() == 0) return option;
  return nullptr;
}

// "muster skip: STAGE is missing (which stage)".
std::string MissingText(const CLI::App& command, const CLI::Option& option) {
  const auto name = option.get_positional() ? option.get_type_name() : option.get_name();
  std::string about = option.get_description();
  if (about.size() > 1 && std::islower(static_cast<unsigned char>(about[1])) != 0)
    about.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(about.front())));
  return fmt::format("{}: {} is missing{}", PathOf(command), name,
                     about.empty() ? "" : fmt::format(" ({})", about));
}

// Done on the server's machine, by the server's program; "" when the words are none of those.
std::string OnServer(const std::vector<std::string>& words) {
  constexpr std::string_view kCommands[] = {"backup", "ca", "check-config", "join", "restore"};
  if (words.empty()) return "";
  const bool copy = words.front() == "store";
  if (!copy && std::ranges::find(kCommands, words.front()) == std::end(kCommands)) return "";
  const std::string command = copy ? "store copy" : words.front();
  return fmt::format("this is done on the server's machine: musterd {0}, see musterd {0} --help",
                     command);
}

std::string Unexpected(const CLI::App& command, const std::string& word) {
  const bool option = word.starts_with('-');
  const auto commands = CommandsOf(command);
  const auto meant =
      Similar(word.substr(0, word.find('=')), option ? OptionsOf(command) : commands);
  const std::string hint = meant.empty() ? "" : fmt::format("; did you mean {}?", Listed(meant));
  if (option) return fmt::format("{} has no option {}{}", PathOf(command), word, hint);
  if (!commands.empty())
    return fmt::format("{} has no command '{}'{}", PathOf(command), word, hint);
  if (command.get_name() == "run")
    return fmt::format(
        "unexpected '{}': hosts go behind -t, the command behind --; for example: muster run -t "
        "web1 -- uptime",
        word);
  return fmt::format("unexpected '{}'", word);
}

// What of `extra` does not fit, or a word that was taken for something else before it.
std::string Culprit(const CLI::App& command, const std::vector<std::string>& extra) {
  const auto commands = CommandsOf(command);
  if (!commands.empty()) {
    // `hosts lable web1`: the slip was taken for hosts.
    for (const auto* option : command.get_options([](const CLI::Option*) { return true; }))
      if (option->get_positional() && option->count() > 0 &&
          !Similar(option->results().front(), commands).empty())
        return option->results().front();
    if (!extra.front().starts_with('-')) return extra.front();
  }
  // An unknown option leaves what was meant as its value behind as well.
  const auto option =
      std::ranges::find_if(extra, [](const auto& text) { return text.starts_with('-'); });
  return option == extra.end() ? extra.front() : *option;
}

}  // namespace

std::vector<std::string> Similar(std::string_view typed, const std::vector<std::string>& known) {
  constexpr std::size_t kMostSlips = 2;
  std::vector<std::string> similar;
  for (const auto& name : known) {
    const bool begun = typed.size() > 2 && name.starts_with(typed);
    const bool slipped =
        name.size() > 2 && Slips(typed, name, kMostSlips) <= std::min(kMostSlips, name.size() / 3);
    if (begun || slipped) similar.push_back(name);
  }
  return similar;
}

std::string ExplainUsage(const CLI::App& root, const CLI::ParseError& problem) {
  const CLI::App& command = Reached(root);
  const auto extra = root.remaining(true);
  std::string message = problem.what();
  if (&command == &root && !OnServer(extra).empty())
    return fmt::format("muster: {}\n", OnServer(extra));
  if (!extra.empty())
    message = Unexpected(command, Culprit(command, extra));
  else if (!CommandsOf(command).empty() && problem.get_name() == "RequiredError")
    message = fmt::format("expected a command: {}", Listed(CommandsOf(command)));
  else if (const auto* option = MissingOption(command);
           option != nullptr && problem.get_name() == "RequiredError")
    message = MissingText(command, *option);
  return fmt::format("muster: {}\nSee: {} --help\n", message, PathOf(command));
}

std::optional<std::string> ExplainEmpty(const CLI::App& root) {
  const auto* option = EmptyOption(root);
  if (option == nullptr) return std::nullopt;
  return fmt::format(
      "muster: the value of {} is empty: give one, or leave it out\nSee: {} --help\n",
      option->get_name(), PathOf(Reached(root)));
}

}  // namespace muster::cli
