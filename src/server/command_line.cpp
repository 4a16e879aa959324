#include "server/command_line.hpp"

#include <cstdio>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "base/visible.hpp"

namespace muster::server {

int Complain(const Error& error) {
  EndProgress();
  std::fprintf(stderr, "musterd: %s\n", VisibleLines(error.message).c_str());
  const bool usage = error.code == ErrorCode::kInvalid || error.code == ErrorCode::kNotFound;
  return usage ? 2 : 1;
}

std::optional<int> ParseWords(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : 2;
  }
}

Result<Config> SettingsOf(const std::string& data, const std::string& config_file) {
  Config config;
  if (!config_file.empty())
    if (const auto read = ReadConfigFile(config_file, config); !read) return Fail(read.error());
  if (const auto read = ReadConfigEnvironment(config); !read) return Fail(read.error());
  if (!data.empty()) config.data = data;
  return config;
}

std::function<void(std::string_view, std::uint64_t)> ProgressLine() {
  if (isatty(STDERR_FILENO) == 0) return nullptr;
  return [](std::string_view what, std::uint64_t rows) {
    std::fprintf(stderr, "\r\033[K%.*s: %llu", static_cast<int>(what.size()), what.data(),
                 static_cast<unsigned long long>(rows));
  };
}

void EndProgress() {
  if (isatty(STDERR_FILENO) != 0) std::fputs("\r\033[K", stderr);
}

}  // namespace muster::server
