#include "cli/terminal/list.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/terminal/pager.hpp"

namespace muster::cli {

int ShowList(const Context& context, const ShownText& list, std::string_view summary) {
  const auto& terminal = context.terminal;
  const auto command = terminal.stdout_tty && !context.no_pager ? PagerCommand() : "";
  ShownText whole = list;
  if (!summary.empty() && !context.quiet) whole += OwnLine(summary);
  // One row is for the prompt that follows.
  const bool fits = terminal.rows == 0 || whole.Rows(terminal.columns) < terminal.rows;
  if (!command.empty() && !fits) {
    switch (ShowInPager(command, whole)) {
      case PagerEnd::kShown:
        return 0;
      case PagerEnd::kInterrupted:
        return kExitInterrupted;
      case PagerEnd::kNotStarted:
        break;
    }
  }
  Write(stdout, list);
  if (!summary.empty() && (terminal.stdout_tty || terminal.stderr_tty)) context.Say(summary);
  return 0;
}

int ShowList(const Context& context, std::string_view list, std::string_view summary) {
  return ShowList(context, OwnText(list), summary);
}

std::string CountOf(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", Count(number), noun, number == 1 ? "" : "s");
}

void Tally::Add(const std::string& state, std::uint64_t number) {
  states_[state] += number;
  all_ += number;
}

std::string Tally::Text(std::string_view noun) const {
  std::vector<std::pair<std::string, std::uint64_t>> states(states_.begin(), states_.end());
  std::ranges::sort(states, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::string text = CountOf(all_, noun);
  for (std::size_t i = 0; i < states.size(); ++i)
    text += fmt::format("{}{} {}", i == 0 ? ": " : ", ", Count(states[i].second), states[i].first);
  return text;
}

}  // namespace muster::cli
