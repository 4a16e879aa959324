#pragma once

#include <string>

#include <boost/json/value.hpp>

#include "base/result.hpp"
#include "cli/context.hpp"

namespace muster::cli {

// Which hosts to print.
struct HostsChoice {
  std::string targets;  // "" is every host, also those that take no work
  bool online = false;  // only those
  bool offline = false;
};
Result<int> ListHosts(const Context& context, const HostsChoice& choice);

// Prints the hosts that should be there and are not.
Result<int> ListMissing(const Context& context);

// The labels of a host as the API has it: "rack=r1 zone=sh1".
std::string LabelsText(const boost::json::value& host);

// "online", "offline", "revoked"
std::string HostStateWord(const boost::json::value& host);

// "until TIME by alice: new disks"; "" when nobody works on the host.
std::string MaintenanceText(const boost::json::value& host, const Times& times);

}  // namespace muster::cli
