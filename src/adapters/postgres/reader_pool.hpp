#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "adapters/postgres/connection.hpp"
#include "adapters/postgres/options.hpp"
#include "base/mutex.hpp"

namespace muster::postgres {

// A few sessions for reads, opened as they are needed and again after they were lost. Safe from any
// thread.
class ReaderPool {
 public:
  explicit ReaderPool(const PostgresOptions& options) : options_(options) {}

  // Calls `read` with a session that nobody else uses meanwhile. One statement is one moment.
  // Messages begin with "postgres: WHAT".
  template <typename T, typename Read>
  Result<T> Ask(const char* what, Read read) {
    auto reader = Take();
    if (!reader) return Fail(Explain(what, reader.error()));
    Result<T> answer = read(**reader);
    Give(std::move(*reader));
    if (!answer) return Fail(Explain(what, answer.error()));
    return answer;
  }
  // The same inside one transaction, so that several statements see one moment.
  template <typename T, typename Read>
  Result<T> AtOneMoment(const char* what, Read read) {
    return Ask<T>(what, [&](Connection& connection) -> Result<T> {
      if (auto begun = Begin(connection); !begun) return Fail(begun.error());
      Result<T> answer = read(connection);
      connection.Rollback();
      return answer;
    });
  }

  std::size_t Out() EXCLUDES(mutex_);  // sessions in use

 private:
  Result<std::unique_ptr<Connection>> Take() EXCLUDES(mutex_);
  void Give(std::unique_ptr<Connection> reader) EXCLUDES(mutex_);
  static Result<> Begin(Connection& connection);
  static Error Explain(const char* what, Error error);

  const PostgresOptions& options_;
  base::Mutex mutex_;
  base::Condition back_;
  std::vector<std::unique_ptr<Connection>> idle_ GUARDED_BY(mutex_);
  std::size_t out_ GUARDED_BY(mutex_) = 0;
};

}  // namespace muster::postgres
