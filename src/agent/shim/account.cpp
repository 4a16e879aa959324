#include "agent/shim/account.hpp"

#include <algorithm>
#include <cerrno>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <fmt/ranges.h>

namespace muster::agent {
namespace {

// The caller's buffer grows until the entry fits; LDAP entries can be long.
template <typename Lookup>
const passwd* FindEntry(Lookup lookup, passwd& entry, std::vector<char>& buffer, int& error) {
  for (buffer.resize(4096);; buffer.resize(buffer.size() * 2)) {
    passwd* found = nullptr;
    error = lookup(&entry, buffer.data(), buffer.size(), &found);
    if (error != ERANGE || buffer.size() > (1 << 20)) return found;
  }
}

Account FromEntry(const passwd& entry) {
  Account account;
  account.name = entry.pw_name;
  account.home = entry.pw_dir != nullptr ? entry.pw_dir : "";
  account.shell = entry.pw_shell != nullptr && *entry.pw_shell != '\0' ? entry.pw_shell : "/bin/sh";
  account.uid = entry.pw_uid;
  account.gid = entry.pw_gid;
  return account;
}

std::vector<gid_t> GroupsOf(const Account& account) {
  int count = 64;
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  while (::getgrouplist(account.name.c_str(), account.gid, groups.data(), &count) < 0) {
    count = std::max<int>(count, static_cast<int>(groups.size()) * 2);
    groups.resize(static_cast<std::size_t>(count));
  }
  groups.resize(static_cast<std::size_t>(count));
  return groups;
}

Account OwnAccount() {
  passwd entry{};
  std::vector<char> buffer;
  int error = 0;
  const auto* found =
      FindEntry([](passwd* into, char* at, std::size_t size,
                   passwd** result) { return ::getpwuid_r(::geteuid(), into, at, size, result); },
                entry, buffer, error);
  if (found != nullptr) return FromEntry(*found);
  // A container may run us under a number that has no name.
  Account account;
  account.name = std::to_string(::geteuid());
  account.home = "/";
  account.shell = "/bin/sh";
  account.uid = ::geteuid();
  account.gid = ::getegid();
  return account;
}

}  // namespace

Result<Account> FindAccount(const std::string& user) {
  if (user.empty()) return OwnAccount();
  passwd entry{};
  std::vector<char> buffer;
  int error = 0;
  const auto* found =
      FindEntry([&](passwd* into, char* at, std::size_t size,
                    passwd** result) { return ::getpwnam_r(user.c_str(), into, at, size, result); },
                entry, buffer, error);
  if (found == nullptr)
    return Fail(ErrorCode::kInvalid, "user '{}' does not exist on this host", user);
  Account account = FromEntry(*found);
  if (account.uid == ::geteuid()) return account;
  if (::geteuid() != 0)
    return Fail(ErrorCode::kInvalid,
                "user '{}' needs an agent that runs as root; this one runs as '{}'", user,
                OwnAccount().name);
  account.switch_to = true;
  account.groups = GroupsOf(account);
  return account;
}

Result<std::string> ChooseUser(const RunAsPolicy& policy, const std::string& asked) {
  const std::string user = asked.empty() ? policy.default_user : asked;
  if (policy.default_user.empty() && policy.allow.empty()) return user;
  const std::string name = user.empty() ? OwnAccount().name : user;
  auto allowed = policy.allow;
  if (!policy.default_user.empty() &&
      std::find(allowed.begin(), allowed.end(), policy.default_user) == allowed.end())
    allowed.insert(allowed.begin(), policy.default_user);
  if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) return user;
  return Fail(ErrorCode::kDenied, "user '{}' is not allowed on this host; allowed: {}", name,
              fmt::join(allowed, ", "));
}

std::string UserOfOwner(const std::string& owner) { return owner.substr(0, owner.find(':')); }

Result<std::string> ChooseTaskUser(const RunAsPolicy& policy, const Command& command) {
  const std::string owner = command.push ? UserOfOwner(command.push->owner) : "";
  if (owner.empty()) return ChooseUser(policy, command.user);
  if (auto may_own = ChooseUser(policy, owner); !may_own) return may_own;
  const bool restricted = !policy.default_user.empty() || !policy.allow.empty();
  return ChooseUser(policy, command.user.empty() && restricted ? owner : command.user);
}

}  // namespace muster::agent
