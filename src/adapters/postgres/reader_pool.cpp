#include "adapters/postgres/reader_pool.hpp"

#include <chrono>

namespace muster::postgres {
namespace {

constexpr auto kPatience = std::chrono::seconds(10);

}  // namespace

Result<std::unique_ptr<Connection>> ReaderPool::Take() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::unique_ptr<Connection> reader;
  {
    base::Lock lock(mutex_);
    while (idle_.empty() && out_ >= options_.readers)
      if (!back_.WaitUntil(mutex_, deadline))
        return Fail(ErrorCode::kUnavailable, "all {} readers are busy", options_.readers);
    ++out_;
    if (!idle_.empty()) {
      reader = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (reader && reader->Alive()) return reader;
  auto opened = Connection::Open(options_, Purpose::kRead);
  if (!opened) Give(nullptr);
  return opened;
}

void ReaderPool::Give(std::unique_ptr<Connection> reader) {
  {
    base::Lock lock(mutex_);
    --out_;
    if (reader && reader->Alive()) idle_.push_back(std::move(reader));
  }
  back_.NotifyOne();
}

// The time between two statements is that of a caller who decodes what may be a whole fleet; a
// reader holds no lock that anyone waits for.
Result<> ReaderPool::Begin(Connection& connection) {
  return connection.Execute(
      "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
      " SET LOCAL idle_in_transaction_session_timeout = '60s'");
}

Error ReaderPool::Explain(const char* what, Error error) {
  if (error.code != ErrorCode::kNotFound)
    error.message = fmt::format("postgres: {}: {}", what, error.message);
  return error;
}

std::size_t ReaderPool::Out() {
  base::Lock lock(mutex_);
  return out_;
}

}  // namespace muster::postgres
