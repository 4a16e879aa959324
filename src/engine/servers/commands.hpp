#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/caller.hpp"
#include "engine/kinds.hpp"

// Commands about the servers of the cluster, and their answers.
namespace muster::engine {

struct ServerJoined {
  std::string cluster;
};

// A server takes its place in the cluster, with an invite made for servers. The server that
// passed this on then hands over the cluster's keys, sealed for `key`. The same server with the
// same key may ask again while the invite is valid.
struct JoinServer {
  using Answer = ServerJoined;

  Caller caller;
  std::string invite;  // id
  std::string name;
  std::string key;   // id of the public key
  std::string keys;  // digest of the cluster's keys, which it is given
};

// A server is to give up its nodes and not to lead, or to take part again. The caller
// carries it out once it is on the audit trail.
struct DrainServer {
  using Answer = Done;

  Caller caller;
  std::string name;
  bool wanted = true;
  std::string reason = {};
};

// The second parts of these schema steps are to be run (ports/store.hpp). The caller
// carries it out once it is on the audit trail.
struct FinalizeStore {
  using Answer = Done;

  Caller caller;
  std::vector<std::uint64_t> steps;
  std::string reason = {};
};

// Keys in the data folder of a server are not those that it had, as it found at its start.
struct NoteKeys {
  using Answer = Done;

  Caller caller;
  std::string server;
  std::vector<std::string> news;  // a sentence each
};

using ServerCommands = Kinds<JoinServer, DrainServer, FinalizeStore, NoteKeys>;

}  // namespace muster::engine
