#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ports/store.hpp"
#include "server/api/call.hpp"
#include "server/api/services.hpp"

// Searches by a host's name. A host that is removed and joined again has another id, and what
// happened before belongs to the former one; so all ids that had the name are searched.
namespace muster::server::api {

// Looked at between two reads; its error ends the search.
using GoesOn = std::function<Result<>()>;

// `present`, when there is one, and the hosts that were removed under this name. kNotFound when
// there are none.
Result<std::vector<HostId>> HostsNamed(Store& store, const std::string& name,
                                       std::optional<HostId> present);

// The same of the hosts there are now; the message may say which one was meant.
Result<std::vector<HostId>> HostsNamed(Services& services, const std::string& name);

// Those that the call's `host` names; none when it names no host.
Result<std::vector<HostId>> HostsAsked(Services& services, const Call& call);

// As Store::ListAudit and Store::ListRuns with each of these hosts; the host of the filter is not
// looked at. Without hosts the filter is used as it is.
Result<AuditPage> ListAuditOf(Store& store, const std::vector<HostId>& hosts, AuditFilter filter,
                              std::uint64_t before, std::size_t limit, const GoesOn& goes_on);
Result<std::vector<Run>> ListRunsOf(Store& store, const std::vector<HostId>& hosts,
                                    RunFilter filter, RunId before, std::size_t limit,
                                    const GoesOn& goes_on);

}  // namespace muster::server::api
