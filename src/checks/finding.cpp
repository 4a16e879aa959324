#include "checks/finding.hpp"

namespace muster::checks {

std::string_view Name(Finding::Kind kind) noexcept {
  switch (kind) {
    case Finding::Kind::kLost:
      return "lost";
    case Finding::Kind::kDoubled:
      return "doubled";
    case Finding::Kind::kOrder:
      return "order";
    case Finding::Kind::kStopped:
      return "stopped";
    case Finding::Kind::kOpen:
      return "open";
    case Finding::Kind::kTerms:
      return "terms";
    case Finding::Kind::kStray:
      return "stray";
    case Finding::Kind::kLate:
      return "late";
    case Finding::Kind::kOutcome:
      return "outcome";
  }
  return "";
}

}  // namespace muster::checks
