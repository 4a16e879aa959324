#pragma once

#include <string>

#include "base/result.hpp"
#include "cli/client/contexts.hpp"

namespace muster::cli {

inline constexpr const char* kDefaultServer = "https://127.0.0.1:8440";

// What was said about the server in one place: on the command line, or in the environment.
struct ConnectionOptions {
  std::string server;
  std::string token;
  std::string token_file;
  std::string ca_file;
  std::string context;
  // The variable for the token that is set and empty, as by a name that is misspelt. "" is none.
  std::string empty_variable = {};

  // MUSTER_SERVER, MUSTER_TOKEN, MUSTER_TOKEN_FILE, MUSTER_CA, MUSTER_CONTEXT.
  static ConnectionOptions FromEnvironment();
};

// Which server to talk to, and as whom.
struct Connection {
  std::string context;  // the saved one whose server this is; "" is none
  std::string server = kDefaultServer;
  std::string token;
  std::string token_file;  // when there is no token
  std::string ca_file;
  bool saved_ca = false;  // it is that of the context
};

// Flags win over the environment, the environment over the saved context. `--context` is a flag, so
// it wins over every variable. The token and the CA of a saved context go to its own server only:
// with another --server or MUSTER_SERVER they are not used. kNotFound: no such context. kInvalid:
// an empty MUSTER_TOKEN or MUSTER_TOKEN_FILE would leave the choice of the token to the context.
Result<Connection> Connect(const ConnectionOptions& flags, const ConnectionOptions& environment,
                           const Contexts& contexts);

}  // namespace muster::cli
