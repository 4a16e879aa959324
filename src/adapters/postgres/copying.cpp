#include <libpq-fe.h>

#include "adapters/postgres/connection.hpp"

// The part of Connection that moves whole tables.
namespace muster::postgres {

Result<> Connection::StartCopy(const std::string& sql, bool in) {
  state_.clear();
  if (lost_ || PQsendQuery(handle_, sql.c_str()) != 1) return Fail(Lost());
  const Deadline deadline = Patience();
  if (!Flush(deadline)) return Fail(Lost());
  const Rows answer(Next(deadline));
  if (answer.Get() == nullptr) return Fail(Lost());
  if (PQresultStatus(answer.Get()) == (in ? PGRES_COPY_IN : PGRES_COPY_OUT)) return {};
  auto refused = Refused(answer.Get());
  if (auto rest = Collect(deadline); !rest && lost_) return Fail(rest.error());
  return Fail(std::move(refused));
}

Result<> Connection::BeginCopy(const std::string& sql) { return StartCopy(sql, true); }

Result<> Connection::PutCopy(std::string_view bytes) {
  if (lost_ || PQputCopyData(handle_, bytes.data(), static_cast<int>(bytes.size())) != 1)
    return Fail(Lost());
  // A server that refuses a row says so and reads on, so this comes to its end too.
  if (!Flush(Patience())) return Fail(Lost());
  return {};
}

Result<> Connection::EndCopy() {
  if (lost_ || PQputCopyEnd(handle_, nullptr) != 1) return Fail(Lost());
  auto ended = Collect(Patience());
  if (!ended) return Fail(ended.error());
  return {};
}

Result<> Connection::CopyOut(const std::string& sql,
                             const std::function<Result<>(std::string_view)>& take) {
  if (auto started = StartCopy(sql, false); !started) return started;
  while (true) {
    char* bytes = nullptr;
    const int size = PQgetCopyData(handle_, &bytes, 1);
    const std::unique_ptr<char, decltype(&PQfreemem)> owner(bytes, PQfreemem);
    if (size == -2) return Fail(Lost());
    if (size == -1) break;
    if (size == 0 && !WaitFor(false, Patience())) return Fail(Lost());
    if (size == 0) continue;
    if (auto taken = take({bytes, static_cast<std::size_t>(size)}); !taken) {
      lost_ = true;  // the rest of the rows is still on its way
      return taken;
    }
  }
  auto ended = Collect(Patience());
  if (!ended) return Fail(ended.error());
  return {};
}

}  // namespace muster::postgres
