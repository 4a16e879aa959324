#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace muster::postgres {

// An address by libpq's keywords (host, hostaddr, sslmode, …), each with a value.
using Keywords = std::map<std::string, std::string, std::less<>>;

// Reads a URL or key=value words as libpq does, without its defaults. kInvalid: it cannot be read,
// names a service (service files are not read, as the settings must show where records go), or has
// an '@' in a host, which is then part of a password. The message does not repeat the address, as
// that may hold a password.
Result<Keywords> KeywordsOf(const std::string& address);

// The hosts of an address, "" for the default socket; `hostaddr` before `host`, as libpq dials.
std::vector<std::string> DialledHosts(const Keywords& address);

// The first host that is reached over a network without a certificate that is verified (`sslmode`
// below verify-ca); "" when there is none. Sockets and loopback addresses are no network.
std::string UnprotectedHost(const Keywords& address);

// Removes libpq's variables (PGHOST, PGSSLMODE, PGSERVICE, …) from the environment of this process
// and returns the names of those that were set. Without it they would fill in what an address does
// not say, and PGHOSTADDR would redirect it. Call it before there are threads.
std::vector<std::string> DropEnvironment();

}  // namespace muster::postgres
