#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/instant.hpp"
#include "base/version.hpp"
#include "domain/log.hpp"
#include "fleet/host_set.hpp"

namespace muster::fleet {

// What the pretended processes of one host do.
struct Conduct {
  Duration duration{0};
  std::int32_t exit_code = 0;
  std::string output = {};         // what it says first; "{host}" is the host's name
  std::uint64_t output_bytes = 0;  // of all it says, at least
};

// What pretended processes do.
struct Pretence {
  Conduct conduct = {};
  double fail_share = 0;           // of tasks, chosen by hash of the task: the same each time
  std::string version = kVersion;  // what the host says of itself
  std::vector<std::pair<std::string, std::string>> outputs = {};  // "{host}" is the host's name
  // Some hosts do otherwise. What stands last counts.
  struct Exception {
    HostSet hosts;
    std::optional<Duration> duration = {};
    std::optional<std::int32_t> exit_code = {};
    std::optional<std::string> output = {};
  };
  std::vector<Exception> exceptions = {};
  // Of the output without a text, which is the same for all: the fleet fills it in once.
  LogTotals totals = {};

  // Of one host, with its name filled in.
  Conduct Of(const std::string& host) const;
};

// "{host}" replaced.
std::string WithName(std::string text, const std::string& host);

// Any piece of what is said: `text`, then one line again and again.
std::string PretendedPiece(const std::string& text, std::uint64_t from, std::size_t size);

// The first `bytes` of it as totals. `host`: whose name a masked digest leaves out.
LogTotals PretendedTotals(const std::string& text, std::uint64_t bytes, const std::string& host);

}  // namespace muster::fleet
