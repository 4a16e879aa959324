#pragma once

#include <string>
#include <vector>

#include "adapters/postgres/options.hpp"
#include "base/result.hpp"

namespace muster::postgres {

// What a session is for: batches of records, reads, or output. All go to a primary only: a standby
// may be behind.
enum class Purpose { kWrite, kRead, kAppend };

// The parameters of a connection as libpq takes them: Muster's defaults, then what the address
// says, then what must be so. No value is a connection string that libpq would read again.
struct ConnectionParameters {
  std::vector<std::string> names;
  std::vector<std::string> values;
  std::string secret;  // the password, to keep it out of messages; "" when there is none
};

// kInvalid: the address cannot be read, or leads over a network without a verified certificate
// while the options do not allow that. The message does not repeat the address, as it may hold a
// password.
Result<> CheckProtection(const PostgresOptions& options);

// The same, and what to connect with.
Result<ConnectionParameters> ParametersOf(const PostgresOptions& options, Purpose purpose);

}  // namespace muster::postgres
