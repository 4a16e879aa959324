#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "base/result.hpp"
#include "ports/coordinator.hpp"

// What is said to etcd's JSON gateway and what it says back. Its numbers are strings, its bytes
// base64, and what is zero is left out. Readers say kInvalid for anything else.
namespace muster::etcd {

using Lease = std::int64_t;  // 0 is none
using Revision = std::int64_t;

struct KeyValue {
  std::string key;
  std::string value = {};
  Revision revision = 0;  // of its last change
  Lease lease = 0;
  bool deleted = false;

  friend bool operator==(const KeyValue&, const KeyValue&) = default;
};

// All keys under a prefix, as they were at one revision.
struct Snapshot {
  std::string cluster;  // etcd's own id for itself
  Revision revision = 0;
  std::vector<KeyValue> found;
};

struct TxnAnswer {
  bool succeeded = false;
  Revision revision = 0;
  std::vector<KeyValue> found;  // by its ranges
};

struct WatchNews {
  Revision revision = 0;
  bool created = false;
  bool canceled = false;  // by etcd; for example because what it should begin with was compacted
  std::string reason = {};
  std::vector<KeyValue> events = {};
};

std::string LoginBody(std::string_view user, std::string_view password);
std::string GrantBody(std::int64_t seconds);
std::string LeaseBody(Lease lease);  // to keep alive, to revoke
std::string RangeBody(std::string_view prefix);
std::string WatchBody(std::string_view prefix, Revision from);
// Puts `key` when it is absent, and finds it otherwise.
std::string ClaimBody(std::string_view key, std::string_view value, Lease lease);
// Deletes `key` when it has this lease and this value: one that comes late takes no later claim.
std::string ReleaseBody(std::string_view key, std::string_view value, Lease lease);
// Puts `key`, and deletes `replaced` unless that is empty.
std::string PutBody(std::string_view key, std::string_view value, Lease lease,
                    std::string_view replaced);

Result<std::string> ReadToken(const boost::json::object& answer);
struct Grant {
  Lease lease = 0;
  std::chrono::seconds ttl{0};
};
Result<Grant> ReadGrant(const boost::json::object& answer);
// Zero when there is no such lease any more.
Result<std::chrono::seconds> ReadKeptAlive(const boost::json::object& answer);
Result<Snapshot> ReadSnapshot(const boost::json::object& answer);
Result<TxnAnswer> ReadTxn(const boost::json::object& answer);
Result<WatchNews> ReadNews(const boost::json::object& answer);

// The values of Muster's own keys.
// `claim` tells claims under one lease apart.
std::string LeaderText(std::string_view name, std::uint64_t claim);
std::string MemberText(const Member& member);
Result<std::string> ReadLeader(std::string_view text);
Result<Member> ReadMember(std::string_view text);

// An answer's object, without the wrapping of streams. An error in it that is etcd's own word comes
// back as kNotFound, kDenied, kInvalid or kConflict; kUnavailable is for what another endpoint may
// know better, also when this one does not speak as etcd does.
Result<boost::json::object> ReadAnswer(int status, std::string_view body);

}  // namespace muster::etcd
