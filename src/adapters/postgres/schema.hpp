#pragma once

#include <span>

#include "adapters/postgres/connection.hpp"

namespace muster::postgres {

// One version of the tables, as the step from the one before it. A step that a release has carried
// never changes; a change of the tables is a new step at the end.
struct SchemaStep {
  // Only adds: servers that know nothing of the step go on beside it. Run by the first leader that
  // knows it.
  const char* expand;
  // Takes away what only servers from before the step use. Run when someone says that there are
  // none left (Finalize), and in a fresh database.
  const char* contract = "";
};

// The story of Muster's tables.
std::span<const SchemaStep> RecordSteps();

// kInvalid as Expand says; changes nothing.
Result<> CheckKnown(Connection& connection, std::span<const SchemaStep> steps);

// Makes the tables, or brings them up to date, in one transaction that two servers never run at
// once. kInvalid: a newer musterd wrote them and took away what this one needs.
Result<> Expand(Connection& connection, std::span<const SchemaStep> steps);

// Runs what Expand held back; from then on servers that lack one of those steps refuse to lead.
Result<> Contract(Connection& connection, std::span<const SchemaStep> steps);

}  // namespace muster::postgres
