#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "adapters/settings/settings.hpp"
#include "agent/shim/account.hpp"
#include "domain/host.hpp"

namespace muster::agent {

// Settings of muster-agent: defaults, under the YAML file, under flags. A new setting is a field
// here and its line in Describe.
struct Config {
  std::string server;
  std::filesystem::path data = "/var/lib/muster-agent";
  std::string name;  // "" is the machine's own
  Labels labels;
  std::filesystem::path join_file;
  std::filesystem::path ca;
  RunAsPolicy run_as;
  std::uint64_t max_spool = 1ULL << 30;
  std::filesystem::path history;
  std::string log_level = "info";
};

// The table of all settings, over `config`'s fields.
settings::Table Describe(Config& config);

}  // namespace muster::agent
