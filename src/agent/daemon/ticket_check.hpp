#pragma once

#include <string>

#include "base/result.hpp"
#include "link/term_ticket.hpp"

namespace muster::agent {

// Judges tickets (link/term_ticket.hpp) by the cluster's CAs, and remembers the last good one:
// every node of an emulated fleet gets the same. Not thread-safe.
class TicketCheck {
 public:
  // kDenied: it is not signed by one of these CAs, or not for this cluster.
  Result<> Check(const link::TermTicket& ticket, const std::string& ca_pem,
                 const std::string& cluster);

 private:
  link::TermTicket good_;
  std::string good_by_;  // the CAs it was judged by
};

}  // namespace muster::agent
