#pragma once

#include <optional>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace muster::agent {

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  bool zombie = false;

  friend bool operator==(const Process&, const Process&) = default;
};

// A line of /proc/PID/stat. The program's name in it may hold anything, also spaces and ')'.
std::optional<Process> ParseStat(std::string_view line);

// The living processes that descend from `root`, itself not among them, as far as /proc shows them
// now.
std::vector<Process> Descendants(pid_t root);

}  // namespace muster::agent
