#pragma once

#include "cli/runs/run_request.hpp"
#include "cli/runs/run_start.hpp"

namespace CLI {
class App;
}

namespace muster::cli {

// What cp and fetch have in common with run.
struct FileOptions {
  RunOptions run;
  StartOptions start;
  std::string rate;
};
void AddFileOptions(CLI::App& command, FileOptions& options);

// "10MB" of --rate in bytes a second; 0 without.
Result<std::uint64_t> RateOf(const FileOptions& options);

}  // namespace muster::cli
