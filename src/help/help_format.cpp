#include "help/help_format.hpp"

#include <algorithm>
#include <utility>

#include "base/result.hpp"
#include "base/text.hpp"
#include "help/manual.hpp"

namespace muster::help {
namespace {

constexpr std::size_t kAboutColumn = 28;    // where descriptions of options and commands begin
constexpr std::size_t kWidestExample = 46;  // beyond, what it does stands below it
constexpr std::size_t kExampleIndent = 2;

struct Example {
  std::string command;
  std::string about;
};

std::string Spaces(std::size_t count) { return std::string(count, ' '); }

std::size_t ShownWidth(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// `about` beside `head`, or below it when that is too long.
std::string Beside(const std::string& head, std::string_view about, std::size_t column,
                   std::size_t width) {
  if (about.empty()) return head + "\n";
  std::string text = head;
  const bool fits = ShownWidth(head) + 2 <= column;
  text += fits ? Spaces(column - ShownWidth(head)) : "\n" + Spaces(column);
  bool first = true;
  for (const auto& line : WrapWords(about, width - column)) {
    if (!std::exchange(first, false)) text += Spaces(column);
    text += line + "\n";
  }
  return text;
}

Example ReadExample(std::string_view line) {
  const auto gap = line.find("  ");
  if (gap == std::string_view::npos) return {std::string(line), ""};
  return {std::string(line.substr(0, gap)), std::string(Trim(line.substr(gap)))};
}

// A command that is longer than a line goes on below itself, as a shell takes it.
std::string ExampleHead(const std::string& command, std::size_t width) {
  if (ShownWidth(command) + kExampleIndent <= width) return Spaces(kExampleIndent) + command;
  constexpr std::size_t kMark = 2;  // " \"
  const auto lines = WrapWords(command, width - 2 * kExampleIndent - 2 - kMark);
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i)
    text += (i == 0 ? Spaces(kExampleIndent) : " \\\n" + Spaces(2 * kExampleIndent + 2)) + lines[i];
  return text;
}

std::string LayOutExamples(const std::vector<Example>& examples, std::size_t width) {
  std::size_t column = 0;
  for (const auto& example : examples) {
    const auto end = kExampleIndent + ShownWidth(example.command) + 2;
    if (!example.about.empty() && end <= kWidestExample) column = std::max(column, end);
  }
  if (column == 0) column = 2 * kExampleIndent + 2;
  std::string text;
  for (const auto& example : examples) {
    const auto head = ExampleHead(example.command, width);
    // One line beside a long command is better read than three in a narrow column.
    const bool beside = head.find('\n') == std::string::npos &&
                        ShownWidth(head) + 2 + ShownWidth(example.about) <= width;
    text += beside && ShownWidth(head) + 2 > column
                ? head + (example.about.empty() ? "" : "  " + example.about) + "\n"
                : Beside(head, example.about, column, width);
  }
  return text;
}

class FooterLayout {
 public:
  FooterLayout(std::string_view text, std::size_t width) : width_(width) {
    for (const auto line : Split(text, '\n')) Take(line);
    Flush();
  }
  const std::string& Text() const { return text_; }

 private:
  void Take(std::string_view line) {
    if (line == "Examples:") {
      Flush();
      text_ += "Examples:\n";
      in_examples_ = true;
    } else if (line.empty()) {
      Flush();
      text_ += '\n';
      in_examples_ = false;
    } else if (in_examples_) {
      TakeExample(line);
    } else if (line.starts_with(' ')) {
      Flush();
      text_ += fmt::format("{}\n", line);
    } else {
      paragraph_ += fmt::format("{}{}", paragraph_.empty() ? "" : " ", line);
    }
  }

  void TakeExample(std::string_view line) {
    const auto indent = line.find_first_not_of(' ');
    if (indent > kExampleIndent && !examples_.empty())
      examples_.back().about += fmt::format(" {}", Trim(line));
    else
      examples_.push_back(ReadExample(Trim(line)));
  }

  void Flush() {
    text_ += LayOutExamples(examples_, width_);
    examples_.clear();
    if (!paragraph_.empty())
      for (const auto& line : WrapWords(paragraph_, width_)) text_ += line + "\n";
    paragraph_.clear();
  }

  std::size_t width_;
  std::string text_;
  bool in_examples_ = false;
  std::vector<Example> examples_;
  std::string paragraph_;
};

std::string FirstLineOf(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

std::string OptionHeadText(const CLI::Option& option, bool positional) {
  const bool several = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  if (positional) return ArgumentName(option) + (several ? "..." : "");
  std::string head = option.get_name(false, true);
  for (auto at = head.find(','); at != std::string::npos; at = head.find(',', at + 1))
    head.insert(at + 1, " ");
  if (option.get_items_expected_max() == 0) return head;
  head += " " + OptionValueName(option);
  return several ? head + " ..." : head;
}

// Options that may not stand beside it are said behind what it does.
std::string OptionAbout(const CLI::Option& option) {
  std::string about = option.get_description();
  if (const auto standard = option.get_default_str(); !standard.empty())
    about += fmt::format(" (default: {})", standard);
  return about;
}

}  // namespace

std::vector<std::string> WrapWords(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const auto gap = std::min(text.find_first_not_of(' '), text.size());
    const auto end = std::min(text.find(' ', gap), text.size());
    const auto word = text.substr(gap, end - gap);
    if (!line.empty() && ShownWidth(line) + gap + ShownWidth(word) > width) {
      lines.push_back(std::move(line));
      line = word;
    } else {
      line += fmt::format("{}{}", line.empty() ? "" : Spaces(gap), word);
    }
    text.remove_prefix(end);
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string LayOutFooter(std::string_view footer, std::size_t width) {
  return FooterLayout(footer, width).Text();
}

HelpFormatter::HelpFormatter() {
  column_width(kAboutColumn);
  label("OPTIONS", "options");
  label("SUBCOMMAND", "COMMAND");
  label("Positionals", "Arguments");
}

// Hidden arguments leave a blank behind.
std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  return fmt::format("{}\n", Trim(CLI::Formatter::make_usage(app, std::move(name))));
}

// Hidden options leave an empty line behind.
std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  auto text = CLI::Formatter::make_help(app, std::move(name), mode);
  for (auto at = text.find("\n\n\n"); at != std::string::npos; at = text.find("\n\n\n", at))
    text.erase(at, 1);
  return text;
}

std::string HelpFormatter::make_subcommands(const CLI::App* app, CLI::AppFormatMode) const {
  return CommandLines(*app, "Subcommands", "Commands", {});
}

std::string HelpFormatter::CommandLines(const CLI::App& app, const std::string& group,
                                        std::string_view title,
                                        std::span<const std::string_view> names) const {
  auto commands = app.get_subcommands([&](const CLI::App* command) {
    return !command->get_name().empty() && command->get_group() == group;
  });
  std::ranges::stable_sort(commands, {}, [&](const CLI::App* command) {
    return std::ranges::find(names, command->get_name()) - names.begin();
  });
  std::string text;
  for (const auto* command : commands) text += make_subcommand(command);
  return text.empty() ? text : fmt::format("\n{}:\n{}", title, text);
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return Beside("  " + command->get_display_name(true), FirstLineOf(command->get_description()),
                kAboutColumn, kHelpColumns);
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  std::string text;
  for (const auto line : Split(app->get_description(), '\n'))
    for (const auto& wrapped : WrapWords(line, kHelpColumns)) text += wrapped + "\n";
  return text;
}

std::string HelpFormatter::make_footer(const CLI::App* app) const {
  return LayOutFooter(app->get_footer());
}

std::string HelpFormatter::make_option_usage(const CLI::Option* option) const {
  if (option->get_group().empty()) return "";
  const auto name = OptionHeadText(*option, true);
  return option->get_required() ? name : "[" + name + "]";
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool positional) const {
  return Beside("  " + OptionHeadText(*option, positional), OptionAbout(*option), kAboutColumn,
                kHelpColumns);
}

void UseHelpFormat(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormatter>());
  for (auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
    UseHelpFormat(*command);
}

}  // namespace muster::help
