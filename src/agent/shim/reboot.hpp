#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/command.hpp"

// A task that restarts its host (Command::reboot). Its process asks for the restart; the task goes
// on until the machine is gone, and is ended by the agent that finds it under another boot.
namespace muster::agent {

constexpr const char* kBackAfterRestart = "the host is back after a restart";

// The words to execute: those given, else the system's own way, a name without a folder.
std::vector<std::string> RebootWords(const Reboot& reboot, bool systemd);
bool SystemdRuns() noexcept;

// Whether the restart may be under way, by how its command ended (as wait() gives it). It is, when
// the command succeeded, and also when a signal ended it that a shutdown sends to all processes.
bool MayRestart(int status) noexcept;

std::string NoRestartWithin(Duration timeout);

// The kernel's part of a boot as orders name it: what stays the same while the machine runs, also
// when the data folder is another.
std::string_view KernelBoot(std::string_view boot) noexcept;

}  // namespace muster::agent
