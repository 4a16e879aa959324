#pragma once

#include <string>

#include <fmt/format.h>

#include "domain/ids.hpp"

namespace muster::link {

// Proof that a term is one of this cluster: its leader signs one with the key of the cluster's CA
// when its term begins. Nodes and followers believe no term without it, so that a number which
// reached them in another way neither gives orders nor locks them out.
struct TermTicket {
  std::string cluster;
  Term term;
  std::string leader;     // the name of the server that leads
  std::string signature;  // of TicketText
  friend bool operator==(const TermTicket&, const TermTicket&) = default;
};

// What is signed. No certificate begins with these words, so a signature of one is never a
// signature of the other.
inline std::string TicketText(const TermTicket& ticket) {
  return fmt::format("muster term ticket 1\n{}:{}\n{}\n{}:{}\n", ticket.cluster.size(),
                     ticket.cluster, ticket.term.value, ticket.leader.size(), ticket.leader);
}

}  // namespace muster::link
