#include "cli/client/connection.hpp"

#include <cstdlib>

namespace muster::cli {
namespace {

// The nearest word about the token counts, be it the token itself or its file.
void TakeToken(Connection& connection, const ConnectionOptions& given) {
  if (!connection.token.empty() || !connection.token_file.empty()) return;
  connection.token = given.token;
  if (given.token.empty()) connection.token_file = given.token_file;
}

const std::string& First(const std::string& a, const std::string& b) { return a.empty() ? b : a; }

}  // namespace

ConnectionOptions ConnectionOptions::FromEnvironment() {
  const auto value = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text == nullptr ? "" : text);
  };
  ConnectionOptions options{value("MUSTER_SERVER"), value("MUSTER_TOKEN"),
                            value("MUSTER_TOKEN_FILE"), value("MUSTER_CA"),
                            value("MUSTER_CONTEXT")};
  const auto is_empty = [](const char* name) {
    const char* text = std::getenv(name);
    return text != nullptr && *text == '\0';
  };
  if (is_empty("MUSTER_TOKEN"))
    options.empty_variable = "MUSTER_TOKEN";
  else if (options.token.empty() && is_empty("MUSTER_TOKEN_FILE"))
    options.empty_variable = "MUSTER_TOKEN_FILE";
  return options;
}

Result<Connection> Connect(const ConnectionOptions& flags, const ConnectionOptions& environment,
                           const Contexts& contexts) {
  const auto& variables = flags.context.empty() ? environment : ConnectionOptions();
  const auto& asked = First(flags.context, variables.context);
  const SavedContext* saved = contexts.Find(First(asked, contexts.Current()));
  if (saved == nullptr && !asked.empty()) return Fail(contexts.NoSuch(asked));

  Connection connection;
  if (saved != nullptr) connection.server = saved->server;
  if (const auto& server = First(flags.server, variables.server); !server.empty())
    connection.server = server;
  TakeToken(connection, flags);
  if (connection.token.empty() && connection.token_file.empty() &&
      !variables.empty_variable.empty())
    return Fail(ErrorCode::kInvalid,
                "{0} is set and empty; give it a value, or unset it: unset {0}",
                variables.empty_variable);
  TakeToken(connection, variables);
  connection.ca_file = First(flags.ca_file, variables.ca_file);
  if (saved == nullptr || saved->server != connection.server) return connection;
  connection.context = saved->name;
  TakeToken(connection, {{}, saved->token, {}, {}, {}});
  if (connection.ca_file.empty()) {
    connection.ca_file = contexts.CaPath(*saved);
    connection.saved_ca = !connection.ca_file.empty();
  }
  return connection;
}

}  // namespace muster::cli
