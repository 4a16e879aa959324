#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "domain/ids.hpp"
#include "link/messages.hpp"
#include "sim/cluster/sim_clock.hpp"
#include "sim/cluster/sim_coordinator.hpp"
#include "sim/world.hpp"

namespace muster::sim {

// What leaders really ordered, under which lease and by which clock: on its way to a host an order
// is translated, and only this knows what was meant. Part of the truth.
class Ledger {
 public:
  Ledger(World& world, const SimCoordinator& coordinator)
      : world_(world), coordinator_(coordinator) {}

  void TermTaken(Term term) {
    if (term <= newest_) throw Violation("a term was taken twice");
    newest_ = term;
  }

  void Forbid(const std::string& key) { forbidden_.insert(key); }

  // An order leaves a leader. A leader of an older term may not know what was forbidden since; its
  // orders are begun by nobody, which Begins sees to.
  void OrderLeaves(const link::Order& order, const std::string& key, const SimClock::Steady& clock,
                   SimCoordinator::Lease lease) {
    if (order.term == newest_ && forbidden_.contains(key))
      throw Violation("an order went to a revoked host");
    orders_[{order.task, order.term, order.session}] = {clock.TrueTimeOf(order.start_by), lease};
  }

  // A host begins it. Returns the true time at which its start_by was over.
  std::int64_t Begins(const link::Order& order) const {
    const auto found = orders_.find({order.task, order.term, order.session});
    if (found == orders_.end())
      throw Violation("nobody ordered " + FormatTaskKey(order.task) + " in this term and session");
    const std::int64_t ended = coordinator_.EndOf(found->second.lease);
    if (world_.Now() > ended)
      throw Violation(
          fmt::format("{} of term {} was begun {} ms after its leader's lease had ended",
                      FormatTaskKey(order.task), order.term.value, world_.Now() - ended));
    return found->second.start_by + kRounding;
  }

  Term newest() const { return newest_; }

 private:
  static constexpr std::int64_t kRounding = 3;  // ms: three clocks that count whole ones
  struct Sent {
    std::int64_t start_by = 0;  // true time
    SimCoordinator::Lease lease = 0;
  };

  World& world_;
  const SimCoordinator& coordinator_;
  Term newest_;
  std::set<std::string> forbidden_;
  std::map<std::tuple<TaskKey, Term, std::uint64_t>, Sent> orders_;
};

}  // namespace muster::sim
