#pragma once

#include <span>
#include <vector>

#include "adapters/postgres/connection.hpp"
#include "ports/store.hpp"

namespace muster::postgres {

// One version of the tables, as the step from the one before it. A step that a release has carried
// never changes; a change of the tables is a new step at the end.
struct SchemaStep {
  // Only adds: servers that know nothing of the step go on beside it. Run by the first leader that
  // knows it; until then servers that know it follow, and read tables without it.
  const char* expand;
  // Takes away what only servers from before the step use. Run when someone says that there are
  // none left (Finalize), and in a fresh database. Nothing is written meanwhile, so it must be a
  // matter of moments: a leader that is held up for longer makes room, which undoes it.
  const char* contract = "";
};

// The story of Muster's tables.
std::span<const SchemaStep> RecordSteps();

// As far as this program knows it: all of it. Apart, so that a test can link a program of a later
// release.
std::span<const SchemaStep> ReleaseSteps();

// Version 0 when there are no tables yet.
Result<SchemaState> ReadSchemaState(Connection& connection, std::span<const SchemaStep> steps);

// kInvalid as Expand says; changes nothing.
Result<> CheckKnown(Connection& connection, std::span<const SchemaStep> steps);

// kConflict unless the tables are those of `steps`, no fewer and no more; kNotFound when there are
// none. For those who read and write them as a whole.
Result<> CheckSame(Connection& connection, std::span<const SchemaStep> steps);

// Makes the tables, or brings them up to date, in one transaction that two servers never run at
// once. kInvalid: a newer musterd wrote them and took away what this one needs.
Result<> Expand(Connection& connection, std::span<const SchemaStep> steps);

// Runs what Expand held back, as Store::Finalize says, and gives the numbers of those steps; from
// then on servers that lack one of them refuse to lead.
Result<std::vector<std::uint64_t>> Contract(Connection& connection,
                                            std::span<const SchemaStep> steps, Term term);

}  // namespace muster::postgres
