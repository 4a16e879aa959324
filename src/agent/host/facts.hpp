#pragma once

#include <string>
#include <string_view>

#include "domain/host.hpp"

namespace muster::agent {

// What this machine is, for target expressions (`fact.os=debian`): os, os_version, arch, kernel,
// cpus, memory_mb, hostname, boot_time, agent. What cannot be found out is left out.
Labels CollectFacts(std::string_view agent_version);

// The value of a key in an os-release file, without its quotes; "" when missing.
std::string OsReleaseValue(std::string_view text, std::string_view key);

}  // namespace muster::agent
