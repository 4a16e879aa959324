#pragma once

#include <string>

namespace muster::agent {

// The program `muster-agent shim FOLDER`: runs the task that lies in FOLDER (task_folder.hpp),
// keeps its output there and at last its exit record. It lives as long as the task needs it and
// does not care whether its agent lives.
//
// Signals: SIGUSR1 means "look at `kill`"; SIGTERM is a kill wish with the command's own grace, so
// a service manager that stops everything gets clean ends; under a task that restarts the
// machine it means that the machine goes down. Both may come at any time, also before
// the shim is ready: whoever starts it does so with them blocked.
//
// Returns the exit code of the program. Not 0: there is no exit record; nothing was started, or the
// machine goes down as the task asked for.
int RunShim(const std::string& folder);

// Comes before it, once in a process: leaves everything that belongs to the agent, which is its
// working folder, name, ignored signals, and the descriptors from `first_to_close` on.
void DetachShim(int first_to_close);

}  // namespace muster::agent
