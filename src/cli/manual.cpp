#include "cli/manual.hpp"

#include <algorithm>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.hpp"
#include "base/text.hpp"
#include "cli/usage.hpp"

namespace muster::cli {
namespace {

constexpr const char* kRootSections = R"(.SH "EXIT STATUS"
.TP
.B 0
All well.
.TP
.B 1
A host failed, timed out or was killed; or the thing is in a state that does not allow it.
.TP
.B 2
Usage.
.TP
.B 3
Denied.
.TP
.B 4
Not found, no match.
.TP
.B 5
The server is out of reach.
.TP
.B 6
Some hosts are unreachable, refused, skipped or lost; 1 wins over 6.
.TP
.B 130
Detached or interrupted.
.SH ENVIRONMENT
.TP
.BR MUSTER_SERVER ", " MUSTER_TOKEN ", " MUSTER_TOKEN_FILE ", " MUSTER_CA ", " MUSTER_CONTEXT
As the options of the same names. Options win over these, and these over the context in use.
.TP
.B NO_COLOR
Use no colours, unless asked for with \-\-color always.
.SH FILES
.TP
.I ~/.config/muster/contexts.yaml
Servers and tokens of
.BR "muster login" ;
below XDG_CONFIG_HOME when that is set.
)";

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
  if (option.get_positional()) return Italic(Upper(option.get_name(true)));
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

std::string Commands(const CLI::App& command) {
  std::string text;
  for (const auto* below : CommandsBelow(command)) {
    const auto about = below->get_description();
    text += fmt::format(".TP\n{}(1)\n{}.\n", Bold(ManualName(*below)),
                        RoffText(about.substr(0, about.find('\n'))));
  }
  return text.empty() ? text : ".SH COMMANDS\n" + text;
}

std::string Synopsis(const CLI::App& command) {
  std::string text = ".SH SYNOPSIS\n" + Bold(PathOf(command)) + "\n[options]";
  if (!CommandsBelow(command).empty()) text += " " + Italic("COMMAND");
  for (const auto* option : command.get_options([](const CLI::Option*) { return true; }))
    if (option->get_positional())
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
  if (open == std::string::npos) return type;
  type = type.substr(open + 1, type.find('}') - open - 1);
  std::ranges::replace(type, ',', '|');
  return type;
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

std::string ManualName(const CLI::App& command) {
  std::string name = PathOf(command);
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string ManualPage(const CLI::App& command, std::string_view version) {
  const auto description = command.get_description();
  const auto end = description.find('\n');
  const bool root = command.get_parent() == nullptr;
  std::string page =
      fmt::format(".TH {} 1 \"\" \"Muster {}\" \"Muster\"\n.nh\n.ad l\n.SH NAME\n{} \\- {}\n",
                  RoffText(Upper(ManualName(command))), version, RoffText(ManualName(command)),
                  RoffText(description.substr(0, end)));
  page += Synopsis(command);
  if (end != std::string::npos)
    page += ".SH DESCRIPTION\n" + RoffText(description.substr(end + 1)) + "\n";
  page += Commands(command) + Options(command);
  if (!root) page += ".PP\nOptions of every command are described in\n.BR muster (1).\n";
  page += Footer(command.get_footer());
  if (root) page += kRootSections;
  const auto* parent = command.get_parent();
  if (parent != nullptr)
    page += fmt::format(".SH \"SEE ALSO\"\n{}(1)\n", Bold(ManualName(*parent)));
  return page;
}

}  // namespace muster::cli
