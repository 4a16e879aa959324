#include "adapters/postgres/address.hpp"

#include "adapters/postgres/protection.hpp"

namespace muster::postgres {
namespace {

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

Result<> CheckProtection(const PostgresOptions& options) {
  const auto address = KeywordsOf(options.address);
  if (!address) return Fail(address.error());
  const std::string host = options.allow_unprotected ? "" : UnprotectedHost(*address);
  if (host.empty()) return {};
  return Fail(ErrorCode::kInvalid,
              "postgres: '{}' is reached over a network, and the address does not have its "
              "certificate verified: who is in between could read and change all records. Write "
              "sslmode=verify-full and sslrootcert=FILE into the address. To take that risk "
              "instead, set store.let_the_network_read_and_change_records: true",
              host);
}

Result<ConnectionParameters> ParametersOf(const PostgresOptions& options, Purpose purpose) {
  if (auto good = CheckProtection(options); !good) return Fail(good.error());
  Keywords all = *KeywordsOf(options.address);
  const std::string secret = all["password"];
  const auto otherwise = [&](const char* name, std::string value) {
    all.try_emplace(name, std::move(value));
  };
  otherwise("connect_timeout", std::to_string(options.connect.count()));
  otherwise("keepalives_idle", "5");
  otherwise("keepalives_interval", "2");
  otherwise("keepalives_count", "3");
  otherwise("tcp_user_timeout", std::to_string(options.silence.count()));
  otherwise("target_session_attrs", "primary");
  otherwise("application_name", "musterd");
  otherwise("sslmode", "prefer");
  all["client_encoding"] = "UTF8";
  all["options"] = SessionSettings(options, purpose) + " " + all["options"];
  // Where there is a Kerberos ticket it would come before TLS, and no certificate would be
  // verified.
  all["gssencmode"] = "disable";
  ConnectionParameters parameters;
  for (const auto& [name, value] : all) {
    parameters.names.push_back(name);
    parameters.values.push_back(value);
  }
  parameters.secret = secret;
  return parameters;
}

}  // namespace muster::postgres
