#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "agent/shim/process_handle.hpp"

namespace muster::agent {

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  bool zombie = false;
  std::uint64_t started = 0;  // in ticks since the machine's start; with the pid it is one process

  friend bool operator==(const Process&, const Process&) = default;
};

// A line of /proc/PID/stat. The program's name in it may hold anything, also spaces and ')'.
std::optional<Process> ParseStat(std::string_view line);

// The living processes that descend from `root`, itself not among them, as far as /proc shows them
// now.
std::vector<Process> Descendants(pid_t root);

// Calls `act` with each process that `find` finds, held. A process that ended since it was found,
// and whose number another one has, is not among them: each was found once more after it was held.
// `find` is called several times.
void EachHeld(const std::function<std::vector<Process>()>& find,
              const std::function<void(const Process&, const ProcessHandle&)>& act);

// The same with each living descendant of `root`.
void EachDescendant(pid_t root,
                    const std::function<void(const Process&, const ProcessHandle&)>& act);

}  // namespace muster::agent
