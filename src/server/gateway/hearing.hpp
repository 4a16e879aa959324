#pragma once

#include <atomic>

#include "domain/ids.hpp"

namespace muster::server {

// Whose business the words of a server's nodes are: of the leadership that asked them last for
// Hello. It knows nothing of a node until that Hello, so it must be the one that hears it, whatever
// this server believes at that moment of who leads.
class Hearing {
 public:
  enum class By { kNobody, kThisServer, kLeaderElsewhere };

  // A leadership begins, and is about to ask every node. False: a later one has asked already, and
  // the nodes must not be asked. On the loop's thread.
  bool Begins(By by, Term term) {
    if (term < term_) return false;
    term_ = term;
    by_ = by;
    return true;
  }

  // This server's own leadership is over: nobody hears, until somebody asks, whatever its term. It
  // may have been one of a moment, taken from a leader that does not know of it yet and would be
  // taken for an earlier one. On the loop's thread.
  void EndsHere() {
    if (by_ != By::kThisServer) return;
    by_ = By::kNobody;
    term_ = {};
  }

  By Now() const { return by_; }  // from any thread

 private:
  Term term_;
  std::atomic<By> by_{By::kNobody};
};

}  // namespace muster::server
