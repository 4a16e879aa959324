// What the release after this one has instead: linked before the libraries, these are found first.

#include <vector>

#include "adapters/postgres/schema.hpp"
#include "base/version.hpp"

namespace muster {

const char* const kVersion = "0.2.0";

namespace postgres {

// The first part leaves the older release alone; after the second it may not lead.
std::span<const SchemaStep> ReleaseSteps() {
  static const std::vector<SchemaStep> steps = [] {
    std::vector<SchemaStep> all(RecordSteps().begin(), RecordSteps().end());
    all.push_back({"ALTER TABLE meta ADD COLUMN next_release text NOT NULL DEFAULT 'added'",
                   "ALTER TABLE meta ADD COLUMN finalized text"});
    return all;
  }();
  return steps;
}

}  // namespace postgres
}  // namespace muster
