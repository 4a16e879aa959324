#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "adapters/postgres/address.hpp"
#include "adapters/postgres/options.hpp"
#include "adapters/postgres/params.hpp"
#include "adapters/records/query.hpp"
#include "base/result.hpp"

struct pg_conn;
struct pg_result;

namespace muster::postgres {

// One row of an answer; valid as long as its Rows.
class Row final : public records::Row {
 public:
  Row(const pg_result* result, int row) : result_(result), row_(row) {}

  bool IsNull(int column) const override;
  std::int64_t Int(int column) const override;        // of bigint, int or bool; 0 for null
  std::string_view Bytes(int column) const override;  // "" for null

 private:
  const pg_result* result_;
  int row_;
};

// What a statement answered.
class Rows {
 public:
  explicit Rows(pg_result* result) : result_(result) {}
  int Count() const;
  Row At(int row) const { return {result_.get(), row}; }
  const pg_result* Get() const { return result_.get(); }

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

// A statement with its parameters: each `?` in the SQL is the next of them.
struct Query {
  std::string_view sql;
  Params params = {};
};

// One session. Use from one thread at a time. No call waits for longer than the statement time-out
// and a little, also when the other side says nothing at all.
class Connection {
 public:
  // kUnavailable: cannot connect. kInvalid: the address cannot be read.
  static Result<std::unique_ptr<Connection>> Open(const PostgresOptions& options, Purpose purpose);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Whether the session was still there a moment ago; does not wait.
  bool Alive();

  // Runs one statement; it is prepared on first use and kept. kUnavailable: nothing was done.
  // Errors else as ErrorOf says.
  Result<Rows> Ask(std::string_view sql, const Params& params = {});
  // Runs SQL text of any number of statements, without parameters or answer; waits for `patience`
  // when that is more than usual.
  Result<> Execute(const std::string& sql, std::chrono::milliseconds patience = {});
  // Runs all as one transaction in one round trip; their answers in order. kTimeout: COMMIT may
  // have been done; the session is gone then. After any other error nothing was done.
  Result<std::vector<Rows>> Transact(const std::vector<Query>& queries);
  // COPY … FROM STDIN: its rows in pieces of any size, then the end. Each call has the statement's
  // time. After an error of one of them only destroying is left.
  Result<> BeginCopy(const std::string& sql);
  Result<> PutCopy(std::string_view bytes);
  Result<> EndCopy();
  // COPY … TO STDOUT: calls `take` with pieces of any size. When `take` fails the session is gone.
  Result<> CopyOut(const std::string& sql, const std::function<Result<>(std::string_view)>& take);
  // Ends the open transaction, if there is one; LastState stays.
  void Rollback();

  // The server's code (SQLSTATE) of the last error; "" when it came from elsewhere.
  const std::string& LastState() const { return state_; }

 private:
  struct Prepared {
    std::string name;
    bool there = false;
  };
  using Deadline = std::chrono::steady_clock::time_point;

  Connection(pg_conn* handle, const PostgresOptions& options, std::string secret);
  Result<> SetUp(Purpose purpose);
  Deadline Patience(std::chrono::milliseconds least = {}) const;
  // Waits until the socket can be read, or written when `writing`; false when time ran out or the
  // session ended, which it then notes.
  bool WaitFor(bool writing, Deadline deadline);
  bool Flush(Deadline deadline);            // all that was queued; false: lost
  pg_result* Next(Deadline deadline);       // the next answer, or nothing
  Result<Rows> Collect(Deadline deadline);  // the answers to one statement outside a pipeline
  // Of a pipeline: one answer for each entry, which names what it prepared if it did.
  Result<std::vector<Rows>> Drain(const std::vector<Prepared*>& answers, Deadline deadline);
  Prepared& Find(std::string_view sql);
  bool SendPrepare(std::string_view sql, const Prepared& prepared, const Params& params);
  bool SendPrepared(const Prepared& prepared, const Params& params);
  Result<> StartCopy(const std::string& sql, bool in);
  bool Queue(const Query& query, std::vector<Prepared*>& answers);
  Error Refused(const pg_result* result);
  Error Lost();

  pg_conn* handle_;
  const std::chrono::milliseconds patience_;
  const std::string secret_;
  std::unordered_map<std::string, Prepared> prepared_;
  std::string state_;
  std::string why_lost_;  // our own reason, when it is not libpq's
  bool lost_ = false;
};

}  // namespace muster::postgres
