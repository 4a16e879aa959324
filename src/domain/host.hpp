#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.hpp"
#include "base/result.hpp"
#include "domain/ids.hpp"

namespace muster {

using Labels = std::map<std::string, std::string, std::less<>>;

enum class HostState : std::uint8_t {
  kActive = 0,
  kCopy = 1,     // two agents use one key (a cloned data folder): no work until replaced
  kRevoked = 2,  // its key is no longer accepted
};
std::string_view Name(HostState state) noexcept;

// Somebody works on a host: runs leave it out until then, unless they are told otherwise.
struct Maintenance {
  WallTime until;  // zero: until it is ended
  std::string reason;
  std::string by;
  WallTime at;

  bool OverAt(WallTime now) const { return until && until <= now; }
  friend bool operator==(const Maintenance&, const Maintenance&) = default;
};

// A target. Known by its key, not by its name.
struct Host {
  HostId id;
  std::string name;
  std::string key;  // SHA-256 of the public key, hex
  HostState state = HostState::kActive;
  std::string note;           // why it is not active, for people
  Labels labels;              // from the join and the server; decide targets and, later, grants
  Labels facts;               // what the agent says of its machine: os, arch, kernel, agent, …
  std::string store;          // id of the agent's data folder, as last seen
  std::string boot;           // kernel boot id, as last seen
  std::uint64_t session = 0;  // highest seen
  WallTime joined;
  WallTime last_hello;  // when it was last known to be there: its hello, or the end of its link
  std::optional<Maintenance> maintenance = {};  // perhaps over by now
  // Names of labels whose values the host chose itself at its join, and that the server did not
  // give since. Hosts that joined before this was kept have none.
  std::vector<std::string> own_labels = {};
  std::string invite = {};         // id of the invite it last joined with
  WallTime certified = {};         // when that invite first gave it a certificate
  std::uint32_t certificates = 0;  // how many since

  bool InMaintenance(WallTime now) const { return maintenance && !maintenance->OverAt(now); }
  friend bool operator==(const Host&, const Host&) = default;
};

// The server gives, or takes away, this label: from now on it is not the host's own word.
void TakeOver(Host& host, std::string_view label);

// Names are 1 to 253 of [A-Za-z0-9._-], beginning with a letter or digit. So they need no quoting
// in target expressions, folders or URLs.
Result<> CheckHostName(std::string_view name);
Result<> CheckLabel(std::string_view key, std::string_view value);

// Whether a name matches a pattern of literal characters, * (any run of characters) and ? (one).
bool MatchesPattern(std::string_view name, std::string_view pattern) noexcept;

// So long, and so often, a server that joined is answered again.
inline constexpr Duration kServerAsksAgain = std::chrono::hours(1);
inline constexpr std::uint32_t kMostServerAnswers = 10;

// An invite to join with. Its secret is not kept, only the secret's hash.
struct Invite {
  std::string id;  // SHA-256 of the secret, hex
  std::uint32_t uses_left = 1;
  WallTime expires;
  bool replace = false;  // may take over a known name with a new key
  Labels labels;         // given to each host that joins with it
  std::string created_by;
  WallTime created;
  std::string names;           // only hosts whose name matches this pattern (* and ?); "" is any
  bool server = false;         // for a server of the cluster, not for a host
  bool no_own_labels = false;  // what the host says of its own labels is ignored
  // Of a server that used it: the name, the id of the key that it shows, how often and since when
  // it was answered, and a digest of the cluster's keys that it was given. It may ask again, as it
  // may have lost the answer.
  std::string server_name = {};
  std::string server_key = {};
  std::uint32_t answers = 0;
  WallTime answered = {};
  std::string given = {};

  // Whether a join may still be answered because of it, if it has not expired. Stores load only
  // these.
  bool Counts() const { return uses_left > 0 || !server_key.empty(); }
  // Whether it can be used by anybody now. What can be used can be listed and revoked.
  bool IsOpen(WallTime now) const { return expires >= now && (uses_left > 0 || MayAskAgain(now)); }
  // Whether the server that used it is answered again.
  bool MayAskAgain(WallTime now) const;
  // Its column `uses_left` in a store: not zero for one that counts.
  std::uint32_t UsesOnRecord() const { return Counts() ? std::max(uses_left, 1U) : 0; }

  friend bool operator==(const Invite&, const Invite&) = default;
};

// A join under a known name with another key, held until somebody decides. One for each name. A
// rejected one stays, so that its key is not asked about again; the next newcomer takes its place.
struct PendingJoin {
  std::string name;
  std::string key;
  std::string invite;   // id of the invite it came with, which it has used up
  Labels labels;        // the newcomer's own
  Labels invited;       // of the invite
  std::string address;  // where it came from
  WallTime since;
  std::string rejected;  // by whom and why; "" while it waits

  friend bool operator==(const PendingJoin&, const PendingJoin&) = default;
};

}  // namespace muster
