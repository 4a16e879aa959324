#pragma once

#include <cstdint>
#include <string>

#include "cli/client/api_client.hpp"
#include "cli/context.hpp"

namespace muster::cli {

struct GrepFlags {
  std::string re;
  bool ignore_case = false;
  std::uint32_t context = 0;
  std::uint64_t limit = 10'000;
};

// `muster logs RUN --grep RE`: prints the lines that the server finds, as "host:line: text", with
// the stage after the host when the run has several. Exits with 0, or 4 when nothing matches.
Result<int> GrepLogs(const Context& context, ApiClient& api, const std::string& run,
                     const std::string& stage, const std::string& host, const GrepFlags& flags);

}  // namespace muster::cli
