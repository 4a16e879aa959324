#include "checks/term_ledger.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace muster::checks {

void TermLedger::Take(Term term, CommitNumber commit, const TaskKey& task) {
  if (!term || !commit) return;
  const auto [at, fresh] = terms_.try_emplace(term);
  Span& span = at->second;
  if (fresh || commit < span.first) {
    span.first = commit;
    span.first_of = FormatTaskKey(task);
  }
  if (fresh || commit > span.last) {
    span.last = commit;
    span.last_of = FormatTaskKey(task);
  }
}

void TermLedger::Take(Term term, const Span& other) {
  const auto [at, fresh] = terms_.try_emplace(term, other);
  if (fresh) return;
  Span& span = at->second;
  if (other.first < span.first) {
    span.first = other.first;
    span.first_of = other.first_of;
  }
  if (other.last > span.last) {
    span.last = other.last;
    span.last_of = other.last_of;
  }
}

std::vector<Finding> TermLedger::Overlaps() const {
  std::vector<Finding> findings;
  const std::pair<const Term, Span>* furthest = nullptr;
  for (const auto& item : terms_) {
    const auto& [term, span] = item;
    if (furthest != nullptr && span.first <= furthest->second.last)
      findings.push_back(
          {.kind = Finding::Kind::kTerms,
           .task = {},
           .text =
               fmt::format("term {} wrote commit {} ({}), and the newer term {} had written "
                           "commit {} ({}) by then",
                           furthest->first.value, furthest->second.last.value,
                           furthest->second.last_of, term.value, span.first.value, span.first_of)});
    if (furthest == nullptr || span.last > furthest->second.last) furthest = &item;
  }
  return findings;
}

CommitNumber TermLedger::Last() const {
  CommitNumber last;
  for (const auto& [term, span] : terms_) last = std::max(last, span.last);
  return last;
}

}  // namespace muster::checks
