#pragma once

#include <string>

#include "base/mutex.hpp"
#include "link/term_ticket.hpp"

namespace muster::server {

// Signs the terms in which this server leads, each once. Safe from any thread.
class TermTickets {
 public:
  // `ca_key_pem`: of the CA that signs now. `leader`: this server's name.
  TermTickets(std::string ca_key_pem, std::string leader)
      : key_(std::move(ca_key_pem)), leader_(std::move(leader)) {}

  // Without a signature, and a line in the log, when it cannot sign; such a ticket convinces
  // no one.
  link::TermTicket For(const std::string& cluster, Term term) EXCLUDES(mutex_);

 private:
  const std::string key_;
  const std::string leader_;
  base::Mutex mutex_;
  link::TermTicket last_ GUARDED_BY(mutex_);
};

}  // namespace muster::server
