#pragma once

#include <string>

#include "domain/host.hpp"
#include "server/api/call.hpp"
#include "server/api/services.hpp"

namespace muster::server::api {

// How a ticket is known to the store: by a hash of its secret.
std::string InviteId(std::string_view secret);

// Makes the ticket, as POST /agents/invites does, and answers the call with its token.
void MakeInvite(Services& services, const CallPtr& call, Invite invite);

}  // namespace muster::server::api
