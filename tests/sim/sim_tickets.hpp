#pragma once

#include "base/result.hpp"
#include "link/term_ticket.hpp"

namespace muster::sim {

// What stands for the CA's signature here: only servers of the history make it.
inline std::string SimSignature(const link::TermTicket& ticket) {
  return "signed: " + TicketText(ticket);
}

inline link::TermTicket SimTicket(const std::string& cluster, Term term) {
  link::TermTicket ticket{.cluster = cluster, .term = term, .leader = "sim", .signature = {}};
  ticket.signature = SimSignature(ticket);
  return ticket;
}

inline Result<> ProvesInSim(const link::TermTicket& ticket) {
  if (ticket.signature == SimSignature(ticket)) return {};
  return Fail(ErrorCode::kDenied, "not signed by a server of this history");
}

}  // namespace muster::sim
