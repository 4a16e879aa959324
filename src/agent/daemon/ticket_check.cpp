#include "agent/daemon/ticket_check.hpp"

#include "adapters/crypto/pki.hpp"

namespace muster::agent {

Result<> TicketCheck::Check(const link::TermTicket& ticket, const std::string& ca_pem,
                            const std::string& cluster) {
  // One CA may sign for several clusters: a copy of this one, or one that was made from its keys.
  if (ticket.cluster != cluster)
    return Fail(ErrorCode::kDenied,
                "the ticket of server {} is for cluster {}, and this host joined cluster {}",
                ticket.leader, ticket.cluster, cluster);
  if (!good_by_.empty() && good_by_ == ca_pem && ticket == good_) return {};
  if (!crypto::IsTextSignedBy(TicketText(ticket), ticket.signature, ca_pem))
    return Fail(ErrorCode::kDenied,
                "the ticket of server {} for term {} is not signed by this cluster's CA",
                ticket.leader, ticket.term.value);
  good_ = ticket;
  good_by_ = ca_pem;
  return {};
}

}  // namespace muster::agent
