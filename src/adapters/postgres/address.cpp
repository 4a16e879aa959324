#include "adapters/postgres/address.hpp"

#include <libpq-fe.h>
#include <map>
#include <memory>

namespace muster::postgres {
namespace {

// What the address itself says.
Result<std::map<std::string, std::string>> Said(const std::string& address) {
  char* problem = nullptr;
  std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(
      PQconninfoParse(address.c_str(), &problem), PQconninfoFree);
  if (problem != nullptr) PQfreemem(problem);  // it repeats what it could not read
  if (!options)
    return Fail(ErrorCode::kInvalid,
                "postgres: cannot read the address of the database; write it as "
                "postgres://USER@HOST:PORT/DATABASE, with special characters as %XX");
  std::map<std::string, std::string> said;
  for (const auto* option = options.get(); option->keyword != nullptr; ++option)
    if (option->val != nullptr) said.emplace(option->keyword, option->val);
  return said;
}

// Every read of Muster is a walk along an index, so plans that begin with a whole table, or that
// sort or hash one, are never wanted: not on tables without statistics either.
constexpr const char* kPlans =
    " -c jit=off -c enable_seqscan=off -c enable_bitmapscan=off -c enable_hashjoin=off"
    " -c enable_mergejoin=off -c max_parallel_workers_per_gather=0";

std::string SessionSettings(const PostgresOptions& options, Purpose purpose) {
  std::string settings = fmt::format("-c statement_timeout={} -c lock_timeout={}",
                                     options.statement.count(), options.lock.count());
  settings +=
      fmt::format(" -c idle_in_transaction_session_timeout={}", options.idle_transaction.count());
  settings += kPlans;
  settings += purpose == Purpose::kRead ? " -c default_transaction_read_only=on"
                                        : " -c plan_cache_mode=force_generic_plan";
  return settings;
}

}  // namespace

Result<ConnectionParameters> ParametersOf(const PostgresOptions& options, Purpose purpose) {
  auto said = Said(options.address);
  if (!said) return Fail(said.error());
  const std::string settings = SessionSettings(options, purpose) + " " + (*said)["options"];
  const std::pair<const char*, std::string> all[] = {
      {"connect_timeout", std::to_string(options.connect.count())},
      {"keepalives_idle", "5"},
      {"keepalives_interval", "2"},
      {"keepalives_count", "3"},
      {"tcp_user_timeout", std::to_string(options.silence.count())},
      {"target_session_attrs", "primary"},
      {"application_name", "musterd"},
      {"dbname", options.address},  // libpq reads it here and goes on; later names win
      {"client_encoding", "UTF8"},
      {"options", settings},
  };
  ConnectionParameters parameters;
  for (const auto& [name, value] : all) {
    parameters.names.emplace_back(name);
    parameters.values.push_back(value);
  }
  parameters.secret = (*said)["password"];
  return parameters;
}

}  // namespace muster::postgres
