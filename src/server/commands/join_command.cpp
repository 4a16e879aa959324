#include <cstdio>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "adapters/crypto/box.hpp"
#include "adapters/files/own_folder.hpp"
#include "adapters/net/client.hpp"
#include "adapters/sqlite/folder_lock.hpp"
#include "base/arguments.hpp"
#include "base/text.hpp"
#include "base/visible.hpp"
#include "domain/join_token.hpp"
#include "server/certificates/certificates.hpp"
#include "server/certificates/cluster_keys.hpp"
#include "server/certificates/key_set.hpp"
#include "server/commands/command_line.hpp"
#include "server/commands/join_state.hpp"

namespace muster::server {
namespace {

namespace json = boost::json;

constexpr const char* kJoinAbout =
    "Join a cluster as one more server\n"
    "Asks a server of the cluster for its keys, with a token of 'muster servers invite', and "
    "writes "
    "them into an empty data folder. Then start musterd with that folder, and with the cluster's "
    "store and coordinator in its settings. After an interruption run the same command again: the "
    "token stays valid for the same data folder until it expires.";
constexpr const char* kJoinExamples = R"(Examples:
  musterd join --server https://s1.example:8440 --join-file token --name s2
  ssh s1 muster servers invite --name s2 | musterd join --server https://s1.example:8440 --join-file /dev/stdin --name s2)";

struct Asked {
  std::string server;
  std::string token;
  std::string name;
  std::filesystem::path data;
};

std::string OwnName() {
  char own[256] = {};
  return gethostname(own, sizeof own - 1) == 0 ? own : "";
}

std::string MessageOf(const net::HttpResponse& response) {
  boost::system::error_code problem;
  const auto body = json::parse(response.body, problem);
  if (!problem)
    if (const auto* message = body.is_object() ? body.as_object().if_contains("error") : nullptr)
      if (message->is_object() && message->as_object().contains("message"))
        return json::value_to<std::string>(message->as_object().at("message"));
  return fmt::format("it answered {}", response.status);
}

bool HasCa(const std::filesystem::path& data) {
  return std::filesystem::exists(data / "ca.pem") || std::filesystem::exists(data / "ca.key");
}

std::unexpected<Error> BelongsToAServer(const Asked& asked) {
  return Fail(ErrorCode::kConflict,
              "{} has a CA already: it belongs to a server; use an empty folder",
              asked.data.string());
}

// The keys of the cluster, which the leader sealed for `keys`.
Result<SecretText> AskForKeys(const Asked& asked, const JoinToken& token,
                              const net::Endpoint& endpoint, const crypto::BoxKeys& keys) {
  net::HttpClient client(endpoint, {.ca_fingerprint = token.ca_fingerprint, .cluster = true});
  net::HttpRequest request;
  request.method = "POST";
  request.target = "/api/v1/servers/join";
  request.headers = {{"Content-Type", "application/json"}};
  request.body = json::serialize(json::object{
      {"token", asked.token}, {"name", asked.name}, {"box_key", ToBase64(keys.public_key)}});
  const auto response = client.Call(request);
  // Whoever answered is no server of the cluster, and says nothing about the token.
  if (!response && response.error().code == ErrorCode::kDenied)
    return Fail(ErrorCode::kUnavailable,
                "{}; if the CA of the cluster was changed after the token was made, make a new one "
                "with 'muster servers invite'",
                response.error().message);
  if (!response)
    return Fail(response.error().code, "{}; run the same command again: the token stays good here",
                response.error().message);
  if (response->status != 201)
    return Fail(response->status == 403 ? ErrorCode::kDenied : ErrorCode::kUnavailable, "{}: {}",
                asked.server, MessageOf(*response));
  boost::system::error_code problem;
  const auto body = json::parse(response->body, problem);
  const auto* sealed =
      !problem && body.is_object() ? body.as_object().if_contains("sealed_keys") : nullptr;
  const auto bytes = sealed != nullptr && sealed->is_string()
                         ? FromBase64(std::string_view(sealed->as_string()))
                         : std::nullopt;
  if (!bytes) return Fail(ErrorCode::kInvalid, "{} did not answer as a server does", asked.server);
  return crypto::OpenBox(keys, *bytes);
}

// Does what an earlier call of the same join has not done yet.
Result<> JoinLocked(const Asked& asked, const JoinToken& token, const net::Endpoint& endpoint) {
  const JoinAttempt join{.token = asked.token, .name = asked.name};
  if (auto finished = FinishKeySet(asked.data); !finished) return finished;
  if (HasCa(asked.data) && HasJoined(asked.data, join)) return {};
  if (HasCa(asked.data)) return BelongsToAServer(asked);
  // On disk before the token is shown: after a crash the leader knows this server by them.
  const auto keys = KeysOfJoin(asked.data, join);
  if (!keys) return Fail(keys.error());
  const auto packed = AskForKeys(asked, token, endpoint, *keys);
  if (!packed) {
    std::error_code ignored;
    if (packed.error().code == ErrorCode::kDenied)
      std::filesystem::remove(asked.data / kJoinStateFile, ignored);
    return Fail(packed.error());
  }
  const auto folder = BeginKeySet(asked.data);
  if (!folder) return Fail(folder.error());
  if (auto unpacked = UnpackClusterKeys(*folder, *packed); !unpacked) return unpacked;
  if (auto noted = NoteJoined(*folder, join); !noted) return noted;
  return PutKeySet(asked.data);
}

Result<> Join(const Asked& asked) {
  const auto token = ParseJoinToken(asked.token, "muster servers invite");
  if (!token && HasCa(asked.data)) return BelongsToAServer(asked);
  if (!token) return Fail(token.error());
  const auto endpoint = net::ParseEndpoint(asked.server);
  if (!endpoint) return Fail(endpoint.error());
  if (!endpoint->tls)
    return Fail(ErrorCode::kInvalid, "--server {}: keys travel over TLS only; write https://…",
                asked.server);
  if (auto own = files::MakeOwnFolder(asked.data, 0700); !own) return own;
  ::chmod(asked.data.c_str(), 0700);
  const auto lock = sqlite::FolderLock::Take(asked.data);
  if (!lock) return Fail(lock.error());
  return JoinLocked(asked, *token, *endpoint);
}

}  // namespace

int JoinMain(int argc, char** argv) {
  CLI::App app(kJoinAbout, "musterd join");
  app.footer(kJoinExamples);
  Asked asked{.name = OwnName(), .data = "/var/lib/muster"};
  std::string data = "/var/lib/muster";
  std::string file;
  app.add_option("--server", asked.server, "A server of the cluster, https://…")
      ->type_name("URL")
      ->required();
  app.add_option(
         "--join", asked.token,
         "Token of 'muster servers invite' (MUSTER_JOIN; an argument shows in ps for a moment)")
      ->type_name("TOKEN")
      ->envname("MUSTER_JOIN");
  app.add_option("--join-file", file, "File with the token")->type_name("FILE");
  app.add_option("--name", asked.name, "This server's name in the cluster (default: the host name)")
      ->type_name("NAME");
  app.add_option("--data", data, "Data folder, empty (MUSTER_DATA)")
      ->type_name("DIR")
      ->envname("MUSTER_DATA")
      ->capture_default_str();
  if (const auto wrong = ParseWords(app, argc, argv)) return *wrong;
  HideArgument(argc, argv, "--join");
  asked.data = data;
  ::umask(077);
  if (!file.empty()) {
    const auto content = ReadWhole(file);
    if (!content) {
      std::fprintf(stderr, "musterd: %s\n", VisibleLines(content.error().message).c_str());
      return 2;
    }
    asked.token = std::string(Trim(*content));
    if (asked.token.empty()) {
      std::fprintf(stderr,
                   "musterd: join file %s is empty; write a token from 'muster servers invite' to "
                   "it\n",
                   VisibleLines(file).c_str());
      return 2;
    }
  }
  if (const auto joined = Join(asked); !joined) {
    std::fprintf(stderr, "musterd: %s\n", VisibleLines(joined.error().message).c_str());
    return joined.error().code == ErrorCode::kInvalid ? 2 : 1;
  }
  std::printf("joined as %s; keys are in %s. Start it: musterd --data %s --config FILE\n",
              asked.name.c_str(), data.c_str(), data.c_str());
  return 0;
}

}  // namespace muster::server
