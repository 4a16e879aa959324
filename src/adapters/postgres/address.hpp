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
// says, then what must be so.
struct ConnectionParameters {
  std::vector<std::string> names;
  std::vector<std::string> values;
  std::string secret;  // the password, to keep it out of messages; "" when there is none
};

// kInvalid: the address cannot be read. The message does not repeat it, as it may hold a password.
Result<ConnectionParameters> ParametersOf(const PostgresOptions& options, Purpose purpose);

}  // namespace muster::postgres
