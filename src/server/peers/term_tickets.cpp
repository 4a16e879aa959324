#include "server/peers/term_tickets.hpp"

#include <spdlog/spdlog.h>

#include "adapters/crypto/pki.hpp"

namespace muster::server {

link::TermTicket TermTickets::For(const std::string& cluster, Term term) {
  base::Lock lock(mutex_);
  const bool known = last_.cluster == cluster && last_.term == term && !last_.signature.empty();
  if (known) return last_;
  last_ = {.cluster = cluster, .term = term, .leader = leader_, .signature = {}};
  auto signature = crypto::SignText(key_, TicketText(last_));
  if (signature)
    last_.signature = std::move(*signature);
  else
    spdlog::error("cannot sign term={}: {}", term.value, signature.error().message);
  return last_;
}

}  // namespace muster::server
