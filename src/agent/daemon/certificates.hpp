#pragma once

#include <string>

#include "agent/identity.hpp"
#include "base/instant.hpp"
#include "domain/host.hpp"
#include "link/messages.hpp"

namespace muster::agent {

// The agent's certificate and whom it trusts, kept good while it runs: says when to ask for a new
// certificate, and takes in what the server hands out. One thread.
class Papers {
 public:
  Papers(DataFolder& folder, Credentials credentials);

  const Credentials& Current() const { return credentials_; }

  // What Hello tells of them (link/certificates.hpp).
  Labels Facts() const;

  // A request to send now, or "" while there is nothing to ask for. Asked again after a while when
  // no answer comes.
  std::string RequestDue(WallTime now);

  // Keeps what came, first on disk. Returns true when the facts are others now. kInvalid: what came
  // is no use, and the certificate is as before.
  Result<bool> Take(const link::Papers& papers, WallTime now);

 private:
  void Plan();

  DataFolder& folder_;
  Credentials credentials_;
  std::string signer_;  // key id of the CA that signed the certificate
  WallTime ends_;
  Duration patience_{};  // between two requests
  WallTime ask_at_;
};

}  // namespace muster::agent
