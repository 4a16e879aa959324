#include "help/manual.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.hpp"
#include "base/text.hpp"

namespace muster::help {
namespace {

std::string Upper(std::string text) {
  for (auto& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string Bold(std::string_view text) { return "\\fB" + RoffText(text) + "\\fR"; }
std::string Italic(std::string_view text) { return "\\fI" + RoffText(text) + "\\fR"; }

std::vector<const CLI::App*> CommandsBelow(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

std::string OptionHead(const CLI::Option& option) {
  if (option.get_positional()) return Italic(ArgumentName(option));
  std::string head;
  const auto add = [&](const std::string& name) {
    head += (head.empty() ? "" : ", ") + Bold(name);
  };
  for (const auto& name : option.get_snames()) add("-" + name);
  for (const auto& name : option.get_lnames()) add("--" + name);
  if (option.get_items_expected_max() > 0) head += " " + Italic(OptionValueName(option));
  return head;
}

std::string Options(const CLI::App& command) {
  std::string text;
  for (const auto* option : command.get_options([](const CLI::Option*) { return true; })) {
    if (option->get_group().empty()) continue;
    text += fmt::format(".TP\n{}\n{}", OptionHead(*option), RoffText(option->get_description()));
    if (const auto standard = option->get_default_str(); !standard.empty())
      text += fmt::format(" (default: {})", RoffText(standard));
    text += ".\n";
  }
  return text.empty() ? text : ".SH OPTIONS\n" + text;
}

// Lists end each description with a full stop, which it may have.
std::string WithoutStop(std::string text) {
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// "musterd ca" of "musterd ca add"; "" of a program.
std::string PathAbove(const CLI::App& command) {
  const auto path = PathOf(command);
  const auto blank = path.rfind(' ');
  return blank == std::string::npos ? "" : path.substr(0, blank);
}

std::string NameOf(std::string path) {
  std::ranges::replace(path, ' ', '-');
  return path;
}

std::string Commands(const CLI::App& command, int section) {
  std::string text;
  for (const auto* below : CommandsBelow(command)) {
    const auto about = below->get_description();
    text += fmt::format(".TP\n{}({})\n{}.\n", Bold(ManualName(*below)), section,
                        RoffText(WithoutStop(about.substr(0, about.find('\n')))));
  }
  return text.empty() ? text : ".SH COMMANDS\n" + text;
}

std::string Synopsis(const CLI::App& command) {
  std::string text = ".SH SYNOPSIS\n" + Bold(PathOf(command)) + "\n[options]";
  if (!CommandsBelow(command).empty())
    text += command.get_require_subcommand_min() == 0 ? " [" + Italic("COMMAND") + "]"
                                                      : " " + Italic("COMMAND");
  for (const auto* option : command.get_options([](const CLI::Option*) { return true; }))
    if (option->get_positional() && !option->get_group().empty())
      text += option->get_required() ? " " + OptionHead(*option) : " [" + OptionHead(*option) + "]";
  return text + "\n";
}

// A paragraph of the footer whose lines are indented or end short of the margin stays as it is.
std::string Footer(const std::string& footer) {
  std::string text;
  bool examples = false;
  bool notes = false;
  for (const auto line : Split(footer, '\n')) {
    if (line == "Examples:") {
      text += ".SH EXAMPLES\n.nf\n";
      examples = true;
    } else if (examples && line.empty()) {
      text += ".fi\n";
      examples = false;
    } else if (!examples && !line.empty() && !notes) {
      text += ".SH NOTES\n" + RoffText(line) + "\n";
      notes = true;
    } else if (!line.empty()) {
      text += RoffText(line) + "\n";
    } else {
      text += ".PP\n";
    }
  }
  return examples ? text + ".fi\n" : text;
}

}  // namespace

std::string OptionValueName(const CLI::Option& option) {
  std::string type = option.get_type_name();
  const auto open = type.find('{');
  if (open != std::string::npos) {
    type = type.substr(open + 1, type.find('}') - open - 1);
    std::ranges::replace(type, ',', '|');
    return type;
  }
  // Behind a colon CLI11 says what a check accepts: "N:INT in [1 - 100]".
  if (type.find(" in [") != std::string::npos) type.resize(std::min(type.find(':'), type.size()));
  return type == "INT" || type == "UINT" ? "N" : type == "FLOAT" ? "NUMBER" : type;
}

std::string ArgumentName(const CLI::Option& option) {
  const auto type = OptionValueName(option);
  return type.empty() || type == "TEXT" ? Upper(option.get_name(true)) : type;
}

std::string RoffText(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    line_begins = c == '\n';
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '^')
      out += "\\(ha";
    else if (c == '~')
      out += "\\(ti";
    else if (c == '`')
      out += "\\(ga";
    else
      out += c;
  }
  return out;
}

std::string PathOf(const CLI::App& command) {
  const auto* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : PathOf(*parent) + " " + command.get_name();
}

std::string ManualName(const CLI::App& command) { return NameOf(PathOf(command)); }

std::string ManualPage(const CLI::App& command, const Manual& manual) {
  const auto description = command.get_description();
  const auto end = description.find('\n');
  const auto name = RoffText(ManualName(command));
  std::string page =
      fmt::format(".TH {} {} \"\" \"Muster {}\" \"Muster\"\n.nh\n.ad l\n.SH NAME\n{} \\- {}\n",
                  RoffText(Upper(ManualName(command))), manual.section, manual.version, name,
                  RoffText(WithoutStop(description.substr(0, end))));
  page += Synopsis(command);
  if (end != std::string::npos)
    page += ".SH DESCRIPTION\n" + RoffText(description.substr(end + 1)) + "\n";
  page += Commands(command, manual.section) + Options(command);
  const auto* first = &command;
  while (first->get_parent() != nullptr) first = first->get_parent();
  if (first != &command)
    page += fmt::format(".PP\nOptions of every command are described in\n.BR {} ({}).\n",
                        RoffText(ManualName(*first)), manual.section);
  page += Footer(command.get_footer());
  const auto above = PathAbove(command);
  if (above.empty()) return page.append(manual.sections);
  return page + fmt::format(".SH \"SEE ALSO\"\n{}({})\n", Bold(NameOf(above)), manual.section);
}

Result<> WriteManual(const CLI::App& command, const Manual& manual,
                     const std::filesystem::path& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem)
    return Fail(ErrorCode::kInternal, "cannot make '{}': {}", folder.string(), problem.message());
  const auto path = folder / fmt::format("{}.{}", ManualName(command), manual.section);
  std::ofstream file(path, std::ios::binary);
  file << ManualPage(command, manual);
  file.close();
  if (!file) return Fail(ErrorCode::kInternal, "cannot write '{}'", path.string());
  for (const auto* below : CommandsBelow(command))
    if (auto ok = WriteManual(*below, manual, folder); !ok) return ok;
  return {};
}

std::optional<int> WriteManualIfAsked(const CLI::App& app, const Manual& manual, int argc,
                                      char** argv) {
  if (argc != 3 || std::string_view(argv[1]) != "__man") return std::nullopt;
  const auto written = WriteManual(app, manual, argv[2]);
  if (written) return 0;
  std::fprintf(stderr, "%s: %s\n", PathOf(app).c_str(), written.error().message.c_str());
  return 1;
}

}  // namespace muster::help
