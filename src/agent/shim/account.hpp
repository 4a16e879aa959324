#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.hpp"
#include "domain/command.hpp"

namespace muster::agent {

// Who a task runs as.
struct Account {
  std::string name;
  std::string home;
  std::string shell;
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // set when the process must switch to it
  bool switch_to = false;     // it is not the account this program runs as
};

// The account of `user`, or of this program when empty. kInvalid in words for people: the user does
// not exist, or only a root agent could become it.
Result<Account> FindAccount(const std::string& user);

// What the host's owner allows. A policy that names nothing allows every user; one that names a
// default or a list allows those only.
struct RunAsPolicy {
  std::string default_user;  // "" is the agent's own
  std::vector<std::string> allow;
  // Whether a job may restart the host by the system's own way, which is the agent's doing.
  bool restarts = true;
};

// The user a task runs as that asked for `asked` ("" asks for the default); "" is the agent's own.
// kDenied when the policy does not allow it.
Result<std::string> ChooseUser(const RunAsPolicy& policy, const std::string& asked);

// "user", "user:group", ":group": the part before the colon.
std::string UserOfOwner(const std::string& owner);

// The same for a command. Of a push the owner must be allowed too; and where the policy says who
// may act at all, files are written with the rights of whoever will own them, unless the command
// names another user: else whoever may only be `web` could replace what belongs to root.
Result<std::string> ChooseTaskUser(const RunAsPolicy& policy, const Command& command);

}  // namespace muster::agent
