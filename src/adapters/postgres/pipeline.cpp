#include <algorithm>
#include <libpq-fe.h>
#include <optional>

#include "adapters/postgres/connection.hpp"

// The part of Connection that sends a whole transaction before it reads the first answer.
namespace muster::postgres {

bool Connection::Queue(const Query& query, std::vector<Prepared*>& answers) {
  Prepared& prepared = Find(query.sql);
  if (!prepared.there && std::ranges::find(answers, &prepared) == answers.end()) {
    if (!SendPrepare(query.sql, prepared, query.params)) return false;
    answers.push_back(&prepared);
  }
  answers.push_back(nullptr);
  return SendPrepared(prepared, query.params);
}

Result<std::vector<Rows>> Connection::Drain(const std::vector<Prepared*>& answers,
                                            Deadline deadline) {
  std::vector<Rows> rows;
  std::optional<Error> refused;
  for (Prepared* preparing : answers) {
    pg_result* result = Next(deadline);
    if (result == nullptr) return Fail(Lost());
    Rows owner(result);
    const auto status = PQresultStatus(result);
    if (status == PGRES_FATAL_ERROR && !refused) refused = Refused(result);
    if (lost_ && refused) return Fail(*refused);
    if (preparing != nullptr && status == PGRES_COMMAND_OK) preparing->there = true;
    if (preparing == nullptr) rows.push_back(std::move(owner));
    const Rows end(Next(deadline));  // nothing: it marks the end of the statement
  }
  // Whatever becomes of the session now, the answers are known.
  const Rows sync(Next(deadline));
  if (PQexitPipelineMode(handle_) != 1) lost_ = true;
  if (refused) return Fail(*refused);
  return rows;
}

Result<std::vector<Rows>> Connection::Transact(const std::vector<Query>& queries) {
  state_.clear();
  if (lost_ || PQenterPipelineMode(handle_) != 1) return Fail(Lost());
  const Deadline deadline = Patience();
  std::vector<Prepared*> answers;
  bool sent = Queue({"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"}, answers);
  for (const auto& query : queries) sent = sent && Queue(query, answers);
  // Not even a part of COMMIT is on its way before the rest is, so up to here the outcome is known.
  if (!sent || !Flush(deadline)) return Fail(Lost());
  sent = Queue({"COMMIT"}, answers) && PQpipelineSync(handle_) == 1 && Flush(deadline);
  auto done = sent ? Drain(answers, deadline) : Fail(Lost());
  if (done) {
    done->erase(done->begin());  // BEGIN's and COMMIT's own
    done->pop_back();
    return done;
  }
  if (lost_) return Fail(ErrorCode::kTimeout, "{}", done.error().message);
  Rollback();
  return done;
}

}  // namespace muster::postgres
