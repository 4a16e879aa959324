#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent/account.hpp"
#include "agent/transfer/part_file.hpp"
#include "agent/transfer/rights.hpp"

namespace muster::agent {

// How a file or folder shall be.
struct Looks {
  std::uint32_t mode = 0644;
  Owner owner;
};

enum class Placed { kNew, kReplaced, kUnchanged };
std::string_view Name(Placed placed) noexcept;  // "new", …

// Puts files in their places with the rights of one user. A file is at every moment either the old
// one or the new one, whole and with its mode and owner; what was a symbolic link becomes a file.
// Errors name the path and what to do.
class Placing {
 public:
  explicit Placing(Account account) : account_(std::move(account)) {}

  const Account& account() const { return account_; }

  // Whether the file is there with this content; then its mode and owner are set right. kInvalid:
  // its folder is not there, or it is a folder itself.
  Result<bool> IsThere(const std::string& path, const std::string& sha256, std::uint64_t size,
                       const Looks& looks) const;

  // Moves a fetched file there.
  Result<Placed> Put(const std::string& path, const PartFile& part, const Looks& looks) const;
  // Writes `content` there.
  Result<Placed> Write(const std::string& path, std::string_view content, const Looks& looks) const;
  // Makes a folder. One that is there stays as it is: it may be /tmp.
  Result<Placed> MakeFolder(const std::string& path, const Looks& looks) const;

 private:
  Result<bool> Look(const std::string& path) const;
  template <typename Fill>
  Result<Placed> ByTemporary(const std::string& path, const Looks& looks, Fill fill) const;

  Account account_;
};

}  // namespace muster::agent
