#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "domain/records.hpp"
#include "engine/caller.hpp"
#include "ports/store.hpp"

// Commands with which hosts come to be known: invites and joins.
namespace muster::engine {

struct InviteCreated {
  Invite invite;
};

struct OpenInvites {
  std::vector<Invite> invites;  // the newest first
};

struct InviteRevoked {
  Invite invite;
};

struct HostChanged {  // as it is now; for a removed one, as it was last
  Host host;
};

struct HostJoined {
  Host host;
  std::string cluster;
};

struct JoinWaits {
  PendingJoin pending;
};

struct JoinRejected {
  PendingJoin pending;
};

struct PendingJoins {
  std::vector<PendingJoin> joins;  // that wait, by name
};

struct CreateInvite {
  using Answer = InviteCreated;

  Caller caller;
  Invite invite;
  std::string key = {};  // Idempotency-Key, as for StartRun
  std::string body_sha256 = {};
  ReadAt<std::optional<IdempotencyKey>> known = {};
};

// The invites that can still be used, for hosts and servers.
struct ListInvites {
  using Answer = OpenInvites;

  Caller caller;
};

// Takes one back. Hosts that joined with it stay.
struct RevokeInvite {
  using Answer = InviteRevoked;

  Caller caller;
  std::string id;  // or the beginning of it, kLeastInviteDigits at least
  std::string reason;
};

inline constexpr std::size_t kLeastInviteDigits = 8;

// Whether this invite lets a host of this name ask to join; changes nothing. Asked before anything
// that costs more is done for the newcomer. kDenied says why not.
struct CheckInvite {
  using Answer = Done;

  Caller caller;
  std::string invite;  // id
  std::string name;
};

struct JoinHost {
  using Answer = std::variant<HostJoined, JoinWaits, JoinRejected>;

  Caller caller;
  std::string invite;  // id
  std::string name;
  std::string key;  // id of the public key
  Labels labels;
};

// What an operator decides about hosts. A name that does not fit is kNotFound or
// kConflict.
struct AcceptJoin {  // the newcomer that waits under this name takes the host over
  using Answer = HostChanged;

  Caller caller;
  std::string name;
  std::string key;  // of the newcomer; "" is the one that waits
};

struct RejectJoin {
  using Answer = JoinRejected;

  Caller caller;
  std::string name;
  std::string reason;
};

struct ListPending {
  using Answer = PendingJoins;

  Caller caller;
};

}  // namespace muster::engine
