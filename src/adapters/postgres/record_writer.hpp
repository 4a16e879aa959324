#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_set>

#include "adapters/postgres/connection.hpp"
#include "adapters/postgres/options.hpp"
#include "adapters/postgres/schema.hpp"
#include "ports/store.hpp"

namespace muster::postgres {

// Writes batches through a session of its own, which it opens when it needs one and again after it
// was lost. Use from one thread.
class RecordWriter {
 public:
  RecordWriter(const PostgresOptions& options, std::span<const SchemaStep> steps)
      : options_(options), steps_(steps) {}

  // As Store says. TakeTerm also brings the tables up to date, and ends the sessions of older terms
  // before it waits for anything, so that a leader that is frozen inside a transaction holds up
  // nobody.
  Result<Fence> TakeTerm();
  Result<> Commit(const Batch& batch, Term term, CommitNumber number);
  Result<std::vector<std::uint64_t>> Finalize(Term term);

 private:
  Result<> Connect();
  Result<> EndOthers();
  Result<Fence> RaiseTerm();
  Result<> Write(const Batch& batch, Term term, CommitNumber number);

  const PostgresOptions& options_;
  const std::span<const SchemaStep> steps_;
  std::unique_ptr<Connection> connection_;
  std::unordered_set<std::string> nodes_;  // known to be in the table
};

}  // namespace muster::postgres
