#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/records.hpp"
#include "engine/caller.hpp"
#include "engine/hosts/join_commands.hpp"
#include "engine/hosts/link_commands.hpp"
#include "engine/kinds.hpp"

// Commands about hosts, and their answers.
namespace muster::engine {

struct HostsLabelled {
  std::uint32_t hosts = 0;    // asked for and known
  std::uint32_t changed = 0;  // of them
};

struct RevokeHost {
  using Answer = HostChanged;

  Caller caller;
  std::string name;
  std::string reason;
};

struct RemoveHost {  // one that is revoked, away, or only declared by a document
  using Answer = HostChanged;

  Caller caller;
  std::string name;
  std::string reason = {};
};

struct LabelHosts {
  using Answer = HostsLabelled;

  Caller caller;
  std::string targets;  // as it was written, for the audit
  std::vector<HostId> hosts;
  Labels set;
  std::vector<std::string> remove;
};

// Maintenance of hosts begins or ends.
struct MaintainHosts {
  using Answer = HostsLabelled;

  Caller caller;
  std::string targets;  // as it was written, for the audit
  std::vector<HostId> hosts;
  std::optional<Maintenance> maintenance;  // nothing ends it; who and when are filled in
};

using HostCommands = Kinds<CreateInvite, ListInvites, RevokeInvite, CheckInvite, JoinHost,
                           AcceptJoin, RejectJoin, ListPending, RevokeHost, RemoveHost, LabelHosts,
                           MaintainHosts, NodeHello, NodeReports, LinkClosed>;

}  // namespace muster::engine
