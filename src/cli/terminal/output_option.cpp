#include "cli/terminal/output_option.hpp"

#include <CLI/CLI.hpp>

#include "base/visible.hpp"

namespace muster::cli {

void AddOutputOption(CLI::App& command, Context& context, const std::vector<std::string>& more) {
  std::string about = "How to print; ";
  if (!more.empty()) about += "names is a name on each line, ";
  std::vector<std::string> formats{"table"};
  formats.insert(formats.end(), more.begin(), more.end());
  formats.insert(formats.end(), {"json", "jsonl", "yaml"});
  command.add_option("-o,--output", context.output, about + "jsonl is a line for each item")
      ->check(CLI::IsMember(formats))
      ->default_str("table");
}

void PrintNames(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += VisibleLine(name) + "\n";
  Write(stdout, text);
}

}  // namespace muster::cli
