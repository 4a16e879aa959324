#include "agent/transfer/rights.hpp"

#include <cerrno>
#include <charconv>
#include <grp.h>
#include <pwd.h>
#include <vector>

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

// With the wrong rights nothing may go on.
ActAs::ActAs(const Account& account)
    : switched_(account.switch_to ? files::UserSwitch::To(account.uid, account.gid, account.groups)
                                  : std::nullopt) {
  MUSTER_CHECK(switched_ || !account.switch_to);
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
