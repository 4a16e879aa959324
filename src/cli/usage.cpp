#include "cli/usage.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <regex>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.hpp"
#include "base/similar.hpp"
#include "cli/command_groups.hpp"
#include "cli/terminal/output.hpp"
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
      for (const auto& name : option->get_lnames())
        if (std::ranges::find(names, "--" + name) == names.end()) names.push_back("--" + name);
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

// "skip: STAGE is missing (which stage)", behind the program's name.
std::string MissingText(const CLI::App& command, const CLI::Option& option) {
  const auto name = option.get_positional() ? option.get_type_name() : option.get_name();
  std::string about = option.get_description();
  if (about.size() > 1 && std::islower(static_cast<unsigned char>(about[1])) != 0)
    about.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(about.front())));
  const auto path = PathOf(command);
  return fmt::format("{}: {} is missing{}", path.substr(path.find(' ') + 1), name,
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

const CLI::Option* OptionNamed(const CLI::App& command, const std::string& name) {
  for (const auto* option : command.get_options([](const CLI::Option*) { return true; }))
    if (option->check_lname(name)) return option;
  return nullptr;
}

std::string FirstGiven(const CLI::Option* option) {
  return option == nullptr || option->count() == 0 ? "" : option->results().front();
}

// `run -t web1 uptime -p`: the words for the hosts lack their mark.
std::string WithoutMark(const std::string& targets, const std::vector<std::string>& extra) {
  return fmt::format(
      "unexpected '{0}': put the command behind --, as in: muster run -t {1} -- {0}{2}",
      extra.front(), targets, extra.size() > 1 ? " …" : "");
}

// `hosts web1 web2`: what was given for its one expression, and another word. "" for other
// commands.
std::string TwoExpressions(const CLI::App& command, const std::string& word) {
  for (const auto* option : command.get_options([](const CLI::Option*) { return true; }))
    if (option->get_positional() && option->get_name() == "targets" && option->count() > 0)
      return fmt::format("unexpected '{0}': give one expression: {1} '{2},{0}'", word,
                         PathOf(command), FirstGiven(option));
  return "";
}

// Which option the word without one may have been meant for: ": parameters go behind -p: …".
std::string MeantFor(const CLI::App& command, const std::string& word) {
  const auto equals = word.find('=');
  if (equals != 0 && equals != std::string::npos && OptionNamed(command, "param") != nullptr)
    return fmt::format(": parameters go behind -p: -p {}", word);
  if (OptionNamed(command, "host") != nullptr)
    return fmt::format(": hosts go behind --host: --host {}", word);
  const auto* targets = OptionNamed(command, "targets");
  return targets != nullptr && !targets->get_positional()
             ? fmt::format(": hosts go behind -t: -t {}", word)
             : "";
}

std::string Unexpected(const CLI::App& command, const std::string& word) {
  const bool option = word.starts_with('-');
  const auto commands = CommandsOf(command);
  const auto meant =
      Similar(word.substr(0, word.find('=')), option ? OptionsOf(command) : commands);
  const std::string hint = meant.empty() ? "" : fmt::format("; did you mean {}?", Listed(meant));
  if (option) return fmt::format("{} has no option {}{}", PathOf(command), word, hint);
  if (meant.empty())
    if (auto text = TwoExpressions(command, word); !text.empty()) return text;
  if (!commands.empty()) {
    const bool shows = meant.empty() && std::ranges::find(commands, "show") != commands.end();
    return fmt::format("{} has no command '{}'{}{}", PathOf(command), word, hint,
                       shows ? fmt::format("; to see one: {} show {}", PathOf(command), word) : "");
  }
  if (command.get_name() == "run")
    return fmt::format(
        "unexpected '{}': hosts go behind -t, the command behind --; for example: muster run -t "
        "web1 -- uptime",
        word);
  return fmt::format("unexpected '{}'{}", word, MeantFor(command, word));
}

// What a value must be, in plain words, of what the parser says about it.
std::string InPlainWords(const std::string& text) {
  // std::regex takes stack for each character of what it reads.
  constexpr std::size_t kMostRead = 1000;
  if (text.size() > kMostRead) return text;
  static const std::regex range("(.+): Value (.*) not in range (-?[0-9]+) to (-?[0-9]+)");
  static const std::regex number("Could not convert: (.+) = (.*)");
  static const std::regex choice("(.+): (.*) not in \\{(.*)\\}");
  static const std::regex missing("(.+): ([0-9]+) required ([^: ]*).* missing");
  const auto counted = [](const std::string& digits) {
    std::uint64_t value = 0;
    const auto* end = digits.data() + digits.size();
    return std::from_chars(digits.data(), end, value).ptr == end ? Count(value) : digits;
  };
  std::smatch part;
  if (std::regex_match(text, part, range))
    return fmt::format("{}: expected a whole number from {} to {}, found '{}'", part.str(1),
                       counted(part.str(3)), counted(part.str(4)), part.str(2));
  if (std::regex_match(text, part, number))
    return fmt::format("{}: expected a whole number like 0, 1 or 20, found '{}'", part.str(1),
                       part.str(2));
  if (std::regex_match(text, part, choice)) {
    const auto words = std::regex_replace(part.str(3), std::regex(","), ", ");
    return fmt::format("{}: expected one of {}; found '{}'", part.str(1), words, part.str(2));
  }
  if (std::regex_match(text, part, missing))
    return fmt::format("{} needs a value: {} {}", part.str(1), part.str(1), part.str(3));
  return text;
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
  std::string message = InPlainWords(problem.what());
  if (&command == &root && !OnServer(extra).empty())
    return fmt::format("muster: {}\n", OnServer(extra));
  const auto targets =
      command.get_name() == "run" ? FirstGiven(OptionNamed(command, "targets")) : "";
  if (!targets.empty() && !extra.empty() && !extra.front().starts_with('-'))
    message = WithoutMark(targets, extra);
  else if (!extra.empty())
    message = Unexpected(command, Culprit(command, extra));
  else if (&command == &root && problem.get_name() == "RequiredError")
    return fmt::format("muster: expected a command\n{}See: {} --help\n", GroupedCommands(root),
                       PathOf(command));
  else if (!CommandsOf(command).empty() && problem.get_name() == "RequiredError")
    message = fmt::format("expected a command: {}", Listed(CommandsOf(command)));
  else if (const auto* option = MissingOption(command);
           option != nullptr && problem.get_name() == "RequiredError")
    message = MissingText(command, *option);
  return fmt::format("muster: {}\nSee: {} --help\n", message, PathOf(command));
}

std::string ExplainVersion(const CLI::App& root) {
  const CLI::App& command = Reached(root);
  const std::string hint =
      command.get_name() == "start"
          ? "; a start takes the newest version, and 'muster rerun RUN' that of "
            "an earlier run"
          : "";
  return fmt::format("muster: {} has no option --version{}\nSee: {} --help\n", PathOf(command),
                     hint, PathOf(command));
}

std::optional<std::string> ExplainEmpty(const CLI::App& root) {
  const auto* option = EmptyOption(root);
  if (option == nullptr) return std::nullopt;
  return fmt::format(
      "muster: the value of {} is empty: give one, or leave it out\nSee: {} --help\n",
      option->get_name(), PathOf(Reached(root)));
}

}  // namespace muster::cli
