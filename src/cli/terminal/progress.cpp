#include "cli/terminal/progress.hpp"

#include <algorithm>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/runs/report.hpp"
#include "cli/runs/stage_progress.hpp"

namespace muster::cli {
namespace {

std::size_t Columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20) return size.ws_col - 1U;
  return 79;
}

Duration Pace(bool tty) { return Duration(tty ? 100 : 5'000); }

}  // namespace

Progress::Progress(const Context& context, std::string run, std::uint64_t hosts, bool shown)
    : context_(context),
      run_(std::move(run)),
      hosts_(hosts),
      shown_(shown && !context.quiet),
      drawn_(Clock::now()) {}

void Progress::Update(const TaskCounts& counts) {
  changed_ = changed_ || !(counts == counts_);
  counts_ = counts;
}

void Progress::SetStages(boost::json::value summary) {
  stages_ = std::move(summary);
  pace_.See(stages_, WallNow());
  changed_ = true;
}

Duration Progress::UntilDraw() const {
  const bool tty = context_.terminal.stderr_tty;
  // The time of a stage goes on at the terminal, also while no host ends.
  const bool ticks = tty && stages_.is_object();
  if (!shown_ || (!changed_ && !ticks)) return Duration(-1);
  const auto due = drawn_ + (changed_ ? Pace(tty) : Duration(1'000));
  const auto left = std::chrono::ceil<Duration>(due - Clock::now());
  return std::max(left, Duration(0));
}

void Progress::Draw() {
  if (UntilDraw() != Duration(0)) return;
  drawn_ = Clock::now();
  changed_ = false;
  const auto stages = StagesText(stages_, pace_, WallNow());
  if (context_.terminal.stderr_tty) {
    auto bar = ClearedLine();
    bar += OwnText(stages.empty() ? ProgressBar(counts_, hosts_, Columns())
                                  : JobBar(counts_, hosts_, stages, Columns()));
    Write(stderr, bar);
    on_screen_ = true;
    return;
  }
  const auto line =
      fmt::format("{}: {} of {} ended ({}){}\n", run_, Count(counts_.Ended()), Hosts(hosts_),
                  CountsText(counts_), stages.empty() ? "" : " · " + stages);
  if (line != last_line_) WriteMessage(line);
  last_line_ = line;
}

void Progress::Clear() {
  if (!on_screen_) return;
  Write(stderr, ClearedLine());
  on_screen_ = false;
  changed_ = true;
}

void Progress::Say(std::string_view line) {
  if (context_.quiet) return;
  Clear();
  context_.Say(line);
}

}  // namespace muster::cli
