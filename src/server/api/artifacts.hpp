#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ports/artifacts.hpp"
#include "server/api/caller_slots.hpp"
#include "server/api/look_again.hpp"
#include "server/api/router.hpp"
#include "server/api/sent_files.hpp"
#include "server/runtime/worker_pool.hpp"

namespace muster::server::api {

// May this host have to do with a file? It may read one that an open task of its names (a push),
// and write any while it has an open task that sends some (a pull), up to what that task takes. It
// learns of no other whether it is there.
struct FileQuestion {
  enum class Kind {
    kRead,
    kWrite,
    kKept,       // what it wrote is whole, and stays; only a notice
    kDiscarded,  // what it wrote was not kept; only a notice
  } kind = Kind::kRead;
  std::string key;     // of the host's certificate
  std::string sha256;  // 32 bytes
  // With kWrite: of the file that is about to come. None: only asks whether any may.
  std::optional<std::uint64_t> size = {};
};
// Answers on any thread. An error is the caller's answer: kDenied says why it may not,
// kUnavailable that there is no leader to ask, which a host takes as "try again".
using AskAboutFile =
    std::function<void(const FileQuestion& question, std::function<void(Result<>)> answer)>;

// Transfers that one caller has under way; each takes about 1 MB.
constexpr std::size_t kMostTransfers = 64;

// What the artifact routes work with. Everything here outlives the router.
struct ArtifactServices {
  ArtifactStore& own;     // this server's, for other servers
  ArtifactStore& shared;  // the cluster's, for everybody else
  WorkerPool& workers;
  AskAboutFile ask;
  LookAgain look_again;
  CallerSlots transfers{kMostTransfers};
  SentFiles sent = {};

  ArtifactStore& For(const Call& call) { return call.request().peer_server.empty() ? shared : own; }
};

// GET, HEAD and PUT of /api/v1/artifacts/{sha256}. Files pass in pieces, whatever their size: about
// 1 MB of memory for each transfer, and a worker only while it reads or writes a piece. A transfer
// ends with the caller's token.
std::vector<Route> ArtifactRoutes(ArtifactServices& services);

// For net::ServerHandlers::streams_body: of the uploads alone.
bool StreamsBody(std::string_view method, std::string_view target);

}  // namespace muster::server::api
