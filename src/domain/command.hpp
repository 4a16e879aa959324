#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/instant.hpp"
#include "domain/resources.hpp"

namespace muster {

// What a task executes on its host. Either `argv` (executed as it is, without a shell) or `script`
// (handed to `interpreter` as a file, with `args`).
struct Command {
  // As max_output of a command that is not started yet: its run's share, see OutputShare.
  static constexpr std::uint64_t kShareOfRun = ~0ULL;

  std::vector<std::string> argv;
  std::string script;
  std::string interpreter;  // "" obeys the script's #! line, else /bin/sh
  std::vector<std::string> args;
  std::string stdin_data;
  std::vector<std::pair<std::string, std::string>> env;
  std::vector<std::string> masks;  // byte strings the shim replaces before a byte is kept
  std::string user;                // "" is the agent's default
  std::string folder;              // "" is the user's home
  Duration timeout = std::chrono::hours(1);
  Duration grace = std::chrono::seconds(10);  // between TERM and KILL
  std::uint64_t max_output = 16ULL << 20;     // bytes kept, both streams
  bool kill_leftovers = false;
  Resources resources;

  friend bool operator==(const Command&, const Command&) = default;
};

// Script and stdin together; an order must fit one message.
constexpr std::size_t kMaxCommandBytes = 1 << 20;

// Output kept of each host when nobody said how much: 16 MB, but all hosts of a run together about
// 1 GB; at least 64 KB, which says why a host failed.
constexpr std::uint64_t OutputShare(std::uint64_t hosts) {
  return std::clamp<std::uint64_t>((1ULL << 30) / std::max<std::uint64_t>(hosts, 1), 64ULL << 10,
                                   16ULL << 20);
}

}  // namespace muster
