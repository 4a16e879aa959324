#pragma once

#include <string>

namespace muster::agent {

// The program `muster-agent transfer FOLDER`: carries out the push or pull that lies in FOLDER, the
// folder of a task (task_folder.hpp). It is an ordinary task of a shim: its output is the task's,
// a signal ends it, and its exit code is 0 or, when something could not be done, 1.
//
// A push prints a line for each file, `/var/tmp/kernel.deb: 12.3 MB, new` (or `unchanged`,
// `replaced`); a pull one as PulledLine has it (pulled_line.hpp). What went wrong goes to stderr.
int RunTransfer(const std::string& folder);

}  // namespace muster::agent
