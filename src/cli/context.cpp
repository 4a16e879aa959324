#include "cli/context.hpp"

#include <cstdlib>

#include "cli/client/token_file.hpp"

namespace muster::cli {
namespace {

// MUSTER_UTC=1 is --utc; empty and 0 are not.
bool UtcInEnvironment() {
  const char* value = std::getenv("MUSTER_UTC");
  const std::string_view text = value == nullptr ? "" : value;
  return !text.empty() && text != "0";
}

}  // namespace

void Context::Settle() {
  terminal = Terminal::Detect(colour);
  if (quiet) terminal.one_output = false;  // no message comes behind hosts' output
  times = Times(terminal.stdout_tty);
  err_times = Times(terminal.stderr_tty);
  utc = utc || UtcInEnvironment();
  if (utc) UseUtc();
  const auto contexts = Contexts::Load(Contexts::DefaultFolder());
  if (!contexts) {
    problem = contexts.error();
    return;
  }
  auto connection = Connect(flags, ConnectionOptions::FromEnvironment(), *contexts);
  if (!connection) {
    problem = connection.error();
    return;
  }
  context = std::move(connection->context);
  server = std::move(connection->server);
  token = std::move(connection->token);
  token_file = std::move(connection->token_file);
  ca_file = std::move(connection->ca_file);
  saved_ca = connection->saved_ca;
  if (token_file.empty()) return;
  if (const auto warning = TokenFileWarning(token_file); !warning.empty()) Say(warning);
}

std::string Context::Where() const { return context.empty() ? server : "context " + context; }

Format Context::OutputFormat() const {
  if (output == "json") return Format::kJson;
  if (output == "jsonl") return Format::kJsonl;
  if (output == "yaml") return Format::kYaml;
  return Format::kTable;
}

void Context::Say(std::string_view line) const {
  if (!quiet) WriteMessage(OwnLine(err_times.InText(line)));
}

void Context::Warn(std::string_view line) const { WriteMessage(OwnLine(err_times.InText(line))); }

void Context::SayLines(std::string_view lines) const {
  if (!quiet) WriteMessage(fmt::format("{}\n", lines));
}

bool Context::PrintDocument(const boost::json::value& value) const {
  if (OutputFormat() == Format::kTable) return false;
  WriteCopy(stdout, Document(value, OutputFormat()));
  return true;
}

int ExitCodeOfError(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalid:
      return kExitUsage;
    case ErrorCode::kDenied:
      return 3;
    case ErrorCode::kNotFound:
      return 4;
    case ErrorCode::kUnavailable:
    case ErrorCode::kTimeout:
    case ErrorCode::kFenced:
      return 5;
    case ErrorCode::kConflict:
    case ErrorCode::kInternal:
      return 1;
  }
  return 1;
}

}  // namespace muster::cli
