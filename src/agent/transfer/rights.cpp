#include "agent/transfer/rights.hpp"

#include <cerrno>
#include <charconv>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

namespace muster::agent {
namespace {

std::optional<unsigned> Number(const std::string& text) {
  unsigned number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size()) return {};
  return number;
}

template <typename Entry, typename Lookup>
bool LookUp(Entry& entry, std::vector<char>& buffer, Lookup lookup) {
  for (buffer.resize(4096);; buffer.resize(buffer.size() * 2)) {
    Entry* found = nullptr;
    const int error = lookup(&entry, buffer.data(), buffer.size(), &found);
    if (error != ERANGE || buffer.size() > (1 << 20)) return found != nullptr;
  }
}

Result<Owner> FindUser(const std::string& name, gid_t otherwise) {
  passwd entry{};
  std::vector<char> buffer;
  if (LookUp(entry, buffer, [&](passwd* into, char* at, std::size_t size, passwd** result) {
        return ::getpwnam_r(name.c_str(), into, at, size, result);
      }))
    return Owner{entry.pw_uid, entry.pw_gid};
  if (const auto number = Number(name)) return Owner{*number, otherwise};
  return Fail(ErrorCode::kInvalid, "user '{}' does not exist on this host", name);
}

Result<gid_t> FindGroup(const std::string& name) {
  group entry{};
  std::vector<char> buffer;
  if (LookUp(entry, buffer, [&](group* into, char* at, std::size_t size, group** result) {
        return ::getgrnam_r(name.c_str(), into, at, size, result);
      }))
    return entry.gr_gid;
  if (const auto number = Number(name)) return *number;
  return Fail(ErrorCode::kInvalid, "group '{}' does not exist on this host", name);
}

}  // namespace

ActAs::ActAs(const Account& account) {
  if (!account.switch_to) return;
  groups_before_.resize(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
  const int count = ::getgroups(static_cast<int>(groups_before_.size()), groups_before_.data());
  gid_before_ = ::getegid();
  switched_ = true;
  MUSTER_CHECK(count >= 0 && ::setgroups(account.groups.size(), account.groups.data()) == 0 &&
               ::setegid(account.gid) == 0 && ::seteuid(account.uid) == 0);
}

// With the wrong rights nothing may go on.
ActAs::~ActAs() {
  if (!switched_) return;
  const int error = errno;
  MUSTER_CHECK(::seteuid(::getuid()) == 0 && ::setegid(gid_before_) == 0 &&
               ::setgroups(groups_before_.size(), groups_before_.data()) == 0);
  errno = error;
}

Result<Owner> FindOwner(const std::string& text, const Account& account) {
  Owner owner{account.uid, account.gid};
  const auto colon = text.find(':');
  if (const std::string user = text.substr(0, colon); !user.empty()) {
    auto found = FindUser(user, account.gid);
    if (!found) return found;
    owner = *found;
  }
  if (colon == std::string::npos || colon + 1 == text.size()) return owner;
  const auto group = FindGroup(text.substr(colon + 1));
  if (!group) return Fail(group.error());
  owner.gid = *group;
  return owner;
}

}  // namespace muster::agent
