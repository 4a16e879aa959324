#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Keeps web pages in a user's browser away from this server. Such a page can send requests to a
// loopback address, and read the answers once its own name resolves to that address (DNS
// rebinding). What gives it away are the headers Host and Origin, which a page cannot choose.
namespace muster::net {

// What a request's head says of where it comes from.
struct RequestSource {
  bool tls = false;
  bool link = false;                           // asks for a link, as agents and servers do
  std::vector<std::string_view> hosts = {};    // each Host header
  std::vector<std::string_view> origins = {};  // each Origin header; programs send none
};

struct SourceProblem {
  int status = 0;
  std::string reason;  // one line; of the headers it has a bounded part, without control characters
};

// Why a request is not answered; nothing when it is. `names`: hosts that this server is called by
// through a proxy, beside loopback names.
//   421  plain HTTP for a Host that is neither loopback nor one of `names`. Over TLS the
//        certificate has to fit the name, so a name that was bound to another address gets nowhere.
//   403  a page of another origin asks, or any page asks for a link.
std::optional<SourceProblem> CheckSource(const RequestSource& source,
                                         const std::vector<std::string>& names);

}  // namespace muster::net
