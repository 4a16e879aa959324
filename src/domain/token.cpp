#include "domain/token.hpp"

#include <algorithm>
#include <array>

#include "base/ascii.hpp"

namespace muster {
namespace {

constexpr std::array<std::string_view, 3> kRoles{"viewer", "operator", "admin"};
constexpr std::array<std::string_view, 6> kPrivileges{"public",  "join",  "view",
                                                      "operate", "admin", "transfer"};
// Whatever acts without a token of its own.
constexpr std::array<std::string_view, 4> kTaken{kBootstrapAdmin, "join", "muster", "musterd"};
constexpr std::size_t kMostTokenName = 64;

}  // namespace

std::string_view Name(Role role) noexcept { return kRoles[static_cast<std::size_t>(role)]; }

std::optional<Role> ParseRole(std::string_view name) noexcept {
  const auto found = std::ranges::find(kRoles, name);
  if (found == kRoles.end()) return std::nullopt;
  return static_cast<Role>(found - kRoles.begin());
}

std::string_view Name(Privilege privilege) noexcept {
  return kPrivileges[static_cast<std::size_t>(privilege)];
}

std::optional<Role> RoleFor(Privilege privilege) noexcept {
  switch (privilege) {
    case Privilege::kPublic:
    case Privilege::kJoin:
      return std::nullopt;
    case Privilege::kView:
      return Role::kViewer;
    case Privilege::kOperate:
    case Privilege::kTransfer:
      return Role::kOperator;
    case Privilege::kAdmin:
      return Role::kAdmin;
  }
  return Role::kAdmin;
}

Result<> CheckTokenName(std::string_view name) {
  const auto fits = [](char c) {
    return IsLetterOrDigit(c) || c == '.' || c == '_' || c == '@' || c == '-';
  };
  if (name.empty() || name.size() > kMostTokenName || !IsLetterOrDigit(name.front()) ||
      !std::ranges::all_of(name, fits))
    return Fail(ErrorCode::kInvalid,
                "a token's name is 1 to {} letters, digits and . _ @ -, beginning with a letter or "
                "digit",
                kMostTokenName);
  if (std::ranges::find(kTaken, name) != kTaken.end())
    return Fail(ErrorCode::kInvalid, "the name '{}' is the server's own; take another", name);
  return {};
}

}  // namespace muster
