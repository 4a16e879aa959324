#pragma once

#include <optional>
#include <string>
#include <sys/types.h>

#include "adapters/files/owner.hpp"
#include "agent/shim/account.hpp"
#include "base/result.hpp"

namespace muster::agent {

// While it lives, files are reached with the rights of `account` and made in its name; nothing
// changes when that is the account this program runs as. One at a time; the program has one thread.
class ActAs {
 public:
  explicit ActAs(const Account& account);
  ActAs(const ActAs&) = delete;
  ActAs& operator=(const ActAs&) = delete;

 private:
  std::optional<files::UserSwitch> switched_;
};

// Whom files shall belong to.
struct Owner {
  uid_t uid = 0;
  gid_t gid = 0;
};

// "user", "user:group", ":group", also as numbers; what is not named is that of `account`, and of
// "user" alone its own group. kInvalid: there is no such user or group on this host.
Result<Owner> FindOwner(const std::string& text, const Account& account);

}  // namespace muster::agent
