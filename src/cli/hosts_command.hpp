#pragma once

#include <string>

#include "base/result.hpp"
#include "cli/context.hpp"

namespace muster::cli {

// Prints the hosts that `targets` means; "" is every host, also those that take no work.
Result<int> ListHosts(const Context& context, const std::string& targets);

// Prints the hosts that should be there and are not.
Result<int> ListMissing(const Context& context);

}  // namespace muster::cli
