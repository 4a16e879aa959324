#include "adapters/postgres/connection.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <libpq-fe.h>
#include <optional>
#include <poll.h>

#include "adapters/postgres/sqlstate.hpp"

namespace muster::postgres {
namespace {

// The server ends a statement itself; this is for a server that says nothing any more.
constexpr std::chrono::milliseconds kBeyondStatement{2000};

// A session that writes records bears this name, by which the next leader finds it
// (record_writer.cpp).
constexpr const char* kNameWriter =
    "SELECT set_config('application_name', 'musterd writer of ' || coalesce(current_schema(), ''),"
    " false)";

// What was answered is durable, whatever the server's default.
constexpr const char* kBeDurable =
    "SELECT set_config('synchronous_commit', 'on', false)"
    " WHERE current_setting('synchronous_commit') = 'off'";

void NoteFatal(void* lost, const PGresult* result) {
  const char* severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity != nullptr && std::strcmp(severity, "FATAL") == 0) *static_cast<bool*>(lost) = true;
}

std::string Numbered(std::string_view sql) {
  std::string out;
  int count = 0;
  for (const char c : sql)
    if (c == '?')
      out += fmt::format("${}", ++count);
    else
      out.push_back(c);
  return out;
}

bool IsError(const PGresult* result) {
  const auto status = PQresultStatus(result);
  return status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK && status != PGRES_EMPTY_QUERY;
}

}  // namespace

void Rows::Clear::operator()(pg_result* result) const { PQclear(result); }

int Rows::Count() const { return PQntuples(result_.get()); }

bool Row::IsNull(int column) const { return PQgetisnull(result_, row_, column) != 0; }

std::string_view Row::Bytes(int column) const {
  return {PQgetvalue(result_, row_, column),
          static_cast<std::size_t>(PQgetlength(result_, row_, column))};
}

std::int64_t Row::Int(int column) const {
  const std::string_view bytes = Bytes(column);
  if (bytes.empty() || bytes.size() > 8) return 0;
  std::uint64_t value = (bytes[0] & 0x80) != 0 && bytes.size() > 1 ? ~0ULL : 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return static_cast<std::int64_t>(value);
}

Connection::Connection(pg_conn* handle, const PostgresOptions& options, std::string secret)
    : handle_(handle),
      patience_(options.statement + kBeyondStatement),
      secret_(std::move(secret)) {}

Connection::~Connection() { PQfinish(handle_); }

Result<std::unique_ptr<Connection>> Connection::Open(const PostgresOptions& options,
                                                     Purpose purpose) {
  auto parameters = ParametersOf(options, purpose);
  if (!parameters) return Fail(parameters.error());
  std::vector<const char*> names;
  std::vector<const char*> values;
  for (const auto& name : parameters->names) names.push_back(name.c_str());
  for (const auto& value : parameters->values) values.push_back(value.c_str());
  names.push_back(nullptr);
  values.push_back(nullptr);
  std::unique_ptr<Connection> connection(new Connection(
      PQconnectdbParams(names.data(), values.data(), 0), options, std::move(parameters->secret)));
  if (connection->handle_ == nullptr) return Fail(ErrorCode::kUnavailable, "out of memory");
  if (PQstatus(connection->handle_) != CONNECTION_OK)
    return Fail(ErrorCode::kUnavailable, "cannot connect: {}",
                Tidy(PQerrorMessage(connection->handle_), connection->secret_));
  if (auto set = connection->SetUp(purpose); !set) return Fail(set.error());
  return connection;
}

Result<> Connection::SetUp(Purpose purpose) {
  PQsetNoticeReceiver(handle_, NoteFatal, &lost_);
  PQsetnonblocking(handle_, 1);
  if (purpose == Purpose::kRead) return {};
  auto set = Ask(kBeDurable);
  if (set && purpose == Purpose::kWrite) set = Ask(kNameWriter);
  if (!set) return Fail(set.error());
  return {};
}

Connection::Deadline Connection::Patience(std::chrono::milliseconds least) const {
  return std::chrono::steady_clock::now() + std::max(patience_, least);
}

bool Connection::Alive() {
  // What comes while nothing was asked is most often the word that the session is over.
  for (pollfd waits{PQsocket(handle_), POLLIN, 0}; !lost_ && poll(&waits, 1, 0) > 0;) {
    if (PQconsumeInput(handle_) == 0) lost_ = true;
    PQfreemem(PQnotifies(handle_));  // has libpq read the messages that came
  }
  return !lost_ && PQstatus(handle_) == CONNECTION_OK;
}

bool Connection::WaitFor(bool writing, Deadline deadline) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd waits{PQsocket(handle_), static_cast<short>(POLLIN | (writing ? POLLOUT : 0)), 0};
    const int ready = left.count() <= 0 ? 0 : poll(&waits, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) why_lost_ = "no answer in time";
    if (ready <= 0) lost_ = true;
    if (ready <= 0) return false;
    if ((waits.revents & ~POLLOUT) != 0 && PQconsumeInput(handle_) == 0) lost_ = true;
    return !lost_;
  }
}

bool Connection::Flush(Deadline deadline) {
  while (true) {
    const int left = PQflush(handle_);
    if (left < 0) lost_ = true;
    if (left <= 0) return left == 0;
    if (!WaitFor(true, deadline)) return false;
  }
}

pg_result* Connection::Next(Deadline deadline) {
  while (PQisBusy(handle_) != 0)
    if (!WaitFor(false, deadline)) break;
  if (!why_lost_.empty()) return nullptr;
  return PQgetResult(handle_);
}

Error Connection::Refused(const pg_result* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity != nullptr && std::strcmp(severity, "ERROR") != 0) lost_ = true;
  if (PQstatus(handle_) == CONNECTION_BAD) lost_ = true;
  state_ = state == nullptr ? "" : state;
  const char* words = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  return ErrorOf(state_, Tidy(words == nullptr ? PQresultErrorMessage(result) : words, secret_));
}

Error Connection::Lost() {
  lost_ = true;
  const std::string why = why_lost_.empty() ? Tidy(PQerrorMessage(handle_), secret_) : why_lost_;
  return {ErrorCode::kUnavailable, fmt::format("connection lost: {}", why)};
}

Connection::Prepared& Connection::Find(std::string_view sql) {
  auto [found, made] = prepared_.try_emplace(std::string(sql));
  if (made) found->second.name = fmt::format("m{}", prepared_.size());
  return found->second;
}

bool Connection::SendPrepare(std::string_view sql, const Prepared& prepared, const Params& params) {
  return PQsendPrepare(handle_, prepared.name.c_str(), Numbered(sql).c_str(), params.Count(),
                       params.Types().data()) == 1;
}

bool Connection::SendPrepared(const Prepared& prepared, const Params& params) {
  std::vector<const char*> values;
  std::vector<int> lengths;
  for (const auto& value : params.Values()) {
    values.push_back(value.data());
    lengths.push_back(static_cast<int>(value.size()));
  }
  const std::vector<int> formats(values.size(), 1);
  return PQsendQueryPrepared(handle_, prepared.name.c_str(), params.Count(), values.data(),
                             lengths.data(), formats.data(), 1) == 1;
}

Result<Rows> Connection::Collect(Deadline deadline) {
  if (!Flush(deadline)) return Fail(Lost());
  Rows rows(nullptr);
  std::optional<Error> refused;
  while (true) {
    pg_result* result = Next(deadline);
    if (result == nullptr) break;
    rows = Rows(result);
    if (IsError(result) && !refused) refused = Refused(result);
  }
  if (refused) return Fail(*refused);
  if (lost_) return Fail(Lost());
  return rows;
}

Result<Rows> Connection::Ask(std::string_view sql, const Params& params) {
  state_.clear();
  if (lost_) return Fail(Lost());
  const Deadline deadline = Patience();
  Prepared& prepared = Find(sql);
  if (!prepared.there) {
    if (!SendPrepare(sql, prepared, params)) return Fail(Lost());
    if (auto done = Collect(deadline); !done) return Fail(done.error());
    prepared.there = true;
  }
  if (!SendPrepared(prepared, params)) return Fail(Lost());
  return Collect(deadline);
}

Result<> Connection::Execute(const std::string& sql, std::chrono::milliseconds patience) {
  state_.clear();
  if (lost_ || PQsendQuery(handle_, sql.c_str()) != 1) return Fail(Lost());
  auto done = Collect(Patience(patience));
  if (!done) return Fail(done.error());
  return {};
}

void Connection::Rollback() {
  if (lost_ || PQtransactionStatus(handle_) == PQTRANS_IDLE) return;
  const std::string state = state_;
  if (!Execute("ROLLBACK")) lost_ = true;
  state_ = state;
}

}  // namespace muster::postgres
