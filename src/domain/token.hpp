#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/instant.hpp"
#include "base/result.hpp"

namespace muster {

// What a token's holder may do. Each role may do all that the one before it may.
enum class Role : std::uint8_t {
  kViewer = 0,    // see everything
  kOperator = 1,  // and start and stop work
  kAdmin = 2,     // and decide who and what belongs here: tokens, invites, agents; read the audit
};
std::string_view Name(Role role) noexcept;  // "viewer", …
std::optional<Role> ParseRole(std::string_view name) noexcept;

// What a call needs. Every route declares one; docs/people.md has the table.
enum class Privilege : std::uint8_t {
  kPublic = 0,    // nothing
  kJoin = 1,      // a join token, in its body; no role
  kView = 2,      // viewer
  kOperate = 3,   // operator
  kAdmin = 4,     // admin
  kTransfer = 5,  // operator; or a host's certificate, for the files of its own tasks
};
std::string_view Name(Privilege privilege) noexcept;  // "public", "join", "view", …

// The least role that has the privilege; none when it needs no role at all.
std::optional<Role> RoleFor(Privilege privilege) noexcept;

// A named key to the API, for a person or a program. Its secret is not kept, only the secret's
// hash. A revoked or expired one is kept for a while, so that its holder is told what became of it.
struct Token {
  std::string name;
  std::string hash;  // SHA-256 of the secret, 32 bytes
  Role role = Role::kViewer;
  std::string created_by;
  WallTime created;
  WallTime expires;  // zero: never
  std::string revoked_by;
  WallTime revoked;  // zero: it was not

  bool ExpiredAt(WallTime now) const { return expires && expires <= now; }
  bool UsableAt(WallTime now) const { return !revoked && !ExpiredAt(now); }

  friend bool operator==(const Token&, const Token&) = default;
};

// The name under which DATA/admin.token acts; no other token can have it.
inline constexpr std::string_view kBootstrapAdmin = "admin";

// Names are 1 to 64 of [A-Za-z0-9._@-], beginning with a letter or digit, and not one that the
// server itself acts under.
Result<> CheckTokenName(std::string_view name);

}  // namespace muster
