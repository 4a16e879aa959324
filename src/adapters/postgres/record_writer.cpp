#include "adapters/postgres/record_writer.hpp"

#include "adapters/postgres/batch_fold.hpp"
#include "adapters/postgres/rows.hpp"
#include "adapters/postgres/sqlstate.hpp"

namespace muster::postgres {
namespace {

constexpr std::size_t kNodesKept = 200'000;  // hosts of the largest fleet, a few boots each
constexpr int kTakeTries = 3;

// Sessions that write this store, by their name, and whoever else of this user holds a lock that a
// change of the fence takes. Waits until they are gone.
constexpr const char* kEndOthers = R"(
  SELECT pg_terminate_backend(a.pid, 2000) FROM pg_stat_activity a
  WHERE a.pid <> pg_backend_pid() AND a.usename = current_user
    AND a.datname = current_database()
    AND (a.application_name = current_setting('application_name')
         OR a.pid IN (SELECT l.pid FROM pg_locks l
                      WHERE l.relation = to_regclass('fence') AND l.mode = 'RowExclusiveLock')))";

}  // namespace

Result<> RecordWriter::Connect() {
  if (connection_ && connection_->Alive()) return {};
  connection_.reset();
  nodes_.clear();
  auto opened = Connection::Open(options_, Purpose::kWrite);
  if (!opened) return Fail(opened.error());
  connection_ = std::move(*opened);
  return {};
}

Result<> RecordWriter::EndOthers() {
  auto ended = connection_->Ask(kEndOthers);
  if (!ended) return Fail(ended.error());
  return {};
}

Result<Fence> RecordWriter::RaiseTerm() {
  // A writer that began since the others were ended is waited for a moment, then ended too.
  auto answers =
      connection_->Transact({{"SET LOCAL lock_timeout = '1s'"},
                             {"UPDATE fence SET term = term + 1 RETURNING term, number"}});
  if (!answers) return Fail(answers.error());
  const Rows& fence = answers->back();
  if (fence.Count() == 0) return Fail(ErrorCode::kInternal, "the fence row is missing");
  return Fence{Term(fence.At(0).Id(0)), CommitNumber(fence.At(0).Id(1))};
}

Result<Fence> RecordWriter::TakeTerm() {
  const auto take = [this]() -> Result<Fence> {
    if (auto connected = Connect(); !connected) return Fail(connected.error());
    if (auto known = CheckKnown(*connection_, steps_); !known) return Fail(known.error());
    for (int tries = 1;; ++tries) {
      if (auto ended = EndOthers(); !ended) return Fail(ended.error());
      const auto expanded = Expand(*connection_, steps_);
      auto fence = expanded ? RaiseTerm() : Fail(expanded.error());
      // The leader until now may have finalized in between; from here on it is fenced.
      if (fence)
        if (auto known = CheckKnown(*connection_, steps_); !known) return Fail(known.error());
      if (fence || tries == kTakeTries || connection_->LastState() != kStateLocked) return fence;
    }
  };
  auto fence = take();
  if (fence) return fence;
  return Fail(fence.error().code, "postgres: take term: {}", fence.error().message);
}

Result<> RecordWriter::Commit(const Batch& batch, Term term, CommitNumber number) {
  auto written = Write(batch, term, number);
  if (written) return {};
  nodes_.clear();  // some may have been rolled back
  return Fail(written.error().code, "postgres: commit batch {}: {}", number.value,
              written.error().message);
}

Result<> RecordWriter::Write(const Batch& batch, Term term, CommitNumber number) {
  if (auto connected = Connect(); !connected) return connected;
  BatchFold fold(nodes_);
  for (const auto& change : batch.changes)
    if (auto added = fold.Add(change); !added) return added;
  std::vector<Query> queries{
      {"SELECT muster_move_fence(?, ?)", Params().Id(term.value).Id(number.value)}};
  std::vector<std::string> new_nodes = std::move(fold.NewNodes());
  for (auto& query : std::move(fold).Take()) queries.push_back(std::move(query));
  if (auto done = connection_->Transact(queries); !done) {
    if (connection_->LastState() != kStateThere) return Fail(done.error());
    nodes_.clear();  // what the batch itself added is not known here
    return {};
  }
  if (nodes_.size() >= kNodesKept) nodes_.clear();
  for (auto& node : new_nodes) nodes_.insert(std::move(node));
  return {};
}

Result<std::vector<std::uint64_t>> RecordWriter::Finalize(Term term) {
  const auto connected = Connect();
  auto done = connected ? Contract(*connection_, steps_, term) : Fail(connected.error());
  if (done) return done;
  return Fail(done.error().code, "postgres: finalize: {}", done.error().message);
}

}  // namespace muster::postgres
