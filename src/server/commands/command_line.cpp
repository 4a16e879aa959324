#include "server/commands/command_line.hpp"

#include <cstdio>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "base/version.hpp"
#include "base/visible.hpp"
#include "help/help_format.hpp"
#include "help/manual.hpp"

namespace muster::server {
namespace {

constexpr const char* kServerSections = R"(.SH SIGNALS
.TP
.BR SIGTERM ", " SIGINT
Stop the server. Tasks on hosts go on.
.TP
.B SIGHUP
Read the settings again.
.SH "EXIT STATUS"
.TP
.B 0
All well.
.TP
.B 1
The server or command failed.
.TP
.B 2
Usage, or wrong settings.
.TP
.B 130
A question was not answered with yes.
.SH ENVIRONMENT
.TP
.BR MUSTER_DATA ", " MUSTER_LISTEN ", " MUSTER_CONFIG
As the options of the same names. Options win over these, and these over the file.
.SH FILES
.TP
.I /etc/muster/musterd.yaml
Settings of the packaged service.
.TP
.I /var/lib/muster
Records, output, the CA and keys, and the first administrator's token in admin.token.
.SH "SEE ALSO"
.BR muster (1),
.BR muster\-agent (8),
.BR muster\-fleet (1)
)";

}  // namespace

int Complain(const Error& error) {
  EndProgress();
  std::fprintf(stderr, "musterd: %s\n", VisibleLines(error.message).c_str());
  const bool usage = error.code == ErrorCode::kInvalid || error.code == ErrorCode::kNotFound;
  return usage ? 2 : 1;
}

std::optional<int> ParseWords(CLI::App& app, int argc, char** argv) {
  const help::Manual manual{.version = kVersion, .section = 8, .sections = kServerSections};
  if (const auto written = help::WriteManualIfAsked(app, manual, argc, argv)) return *written;
  help::UseHelpFormat(app);
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
