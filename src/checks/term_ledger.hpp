#pragma once

#include <map>
#include <string>
#include <vector>

#include "checks/finding.hpp"
#include "domain/ids.hpp"

namespace muster::checks {

// Which commits each leadership made, as far as rows tell. Commit numbers grow through all terms,
// and each belongs to one term: so the spans of two terms never meet. Takes rows in any order, and
// costs memory by terms, not by rows.
class TermLedger {
 public:
  struct Span {
    CommitNumber first;
    CommitNumber last;
    std::string first_of;  // what the first commit wrote, for people
    std::string last_of;
  };

  void Take(Term term, CommitNumber commit, const TaskKey& task);
  // What another ledger knows of a term.
  void Take(Term term, const Span& span);

  // One for each term that reaches back into an older one's commits.
  std::vector<Finding> Overlaps() const;
  const std::map<Term, Span>& terms() const { return terms_; }
  CommitNumber Last() const;

 private:
  std::map<Term, Span> terms_;
};

}  // namespace muster::checks
