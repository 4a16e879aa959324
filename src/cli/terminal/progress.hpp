#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

#include "cli/context.hpp"
#include "cli/runs/stage_progress.hpp"
#include "domain/task.hpp"

namespace muster::cli {

// How far a run is, on stderr: a bar redrawn at most ten times a second on a terminal, a line every
// few seconds in a pipe. Lines said through it do not tear the bar.
class Progress {
 public:
  Progress(const Context& context, std::string run, std::uint64_t hosts, bool shown);
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Update(const TaskCounts& counts);
  // How far the stages are: what GET /runs/ID/summary says.
  void SetStages(boost::json::value summary);
  void Draw();   // when it is time
  void Clear();  // takes the bar away
  void Say(std::string_view line);
  // When Draw has something to do, in milliseconds; negative when nothing changed.
  Duration UntilDraw() const;

 private:
  using Clock = std::chrono::steady_clock;

  const Context& context_;
  std::string run_;
  std::uint64_t hosts_;
  bool shown_;
  TaskCounts counts_;
  bool changed_ = false;
  bool on_screen_ = false;
  Clock::time_point drawn_{};
  std::string last_line_;
  boost::json::value stages_;
  BatchPace pace_;
};

}  // namespace muster::cli
