#pragma once

#include <string>

#include <boost/json/value.hpp>

#include "base/result.hpp"
#include "cli/context.hpp"

namespace muster::cli {

// Prints the hosts that `targets` means; "" is every host, also those that take no work.
Result<int> ListHosts(const Context& context, const std::string& targets);

// Prints the hosts that should be there and are not.
Result<int> ListMissing(const Context& context);

// The labels of a host as the API has it: "rack=r1 zone=sh1".
std::string LabelsText(const boost::json::value& host);

}  // namespace muster::cli
