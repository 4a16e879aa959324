#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent/shim/account.hpp"
#include "agent/transfer/part_file.hpp"
#include "agent/transfer/path_walk.hpp"
#include "agent/transfer/rights.hpp"

namespace muster::agent {

// How a file or folder shall be.
struct Looks {
  std::uint32_t mode = 0644;
  Owner owner;
};

enum class Placed { kNew, kReplaced, kUnchanged };
std::string_view Name(Placed placed) noexcept;  // "new", …

// Puts files in their places with the rights of one user: at the destination of a push, and below
// it. A file is at every moment either the old one or the new one, whole and with its mode and
// owner; what was a symbolic link becomes a file. Errors name the path and what to do.
//
// Another user, who owns the destination or a part of it, cannot lead a file elsewhere: the way to
// the destination obeys PathWalk::Open, the destination stays open while this object lives, and no
// link below it is followed. Everything is done relative to open folders.
class Placing {
 public:
  // `base` is the destination, an absolute path without a slash at its end.
  Placing(Account account, std::string base, PathWalk::Way way = PathWalk::Way::kKernel)
      : account_(std::move(account)), base_(std::move(base)), walk_(account_.uid, way) {}

  // For each of these `below` is a path below the destination, of plain names; "" is the
  // destination itself.
  std::string PathOf(const std::string& below) const;

  // Whether the file is there with this content; then its mode and owner are set right. False also
  // for a file on which that would be unsafe, and which is to be replaced. kInvalid: its folder is
  // not there, or it is a folder itself.
  Result<bool> IsThere(const std::string& below, const std::string& sha256, std::uint64_t size,
                       const Looks& looks);

  // Moves a fetched file there.
  Result<Placed> Put(const std::string& below, const PartFile& part, const Looks& looks);
  // Writes `content` there.
  Result<Placed> Write(const std::string& below, std::string_view content, const Looks& looks);
  // Makes a folder. One that is there stays as it is: it may be /tmp.
  Result<Placed> MakeFolder(const std::string& below, const Looks& looks);

 private:
  // A name in an open folder; `path` is for messages.
  struct Spot {
    Fd folder;
    std::string name;
    std::string path;
  };

  Result<Spot> Find(const std::string& below);
  Result<Fd> FolderOf(const std::string& below);
  Result<Placed> KeepFolder(const std::string& below, const Spot& spot);
  template <typename Fill>
  Result<Placed> ByTemporary(const Spot& spot, const Looks& looks, Fill fill) const;

  Account account_;
  std::string base_;
  PathWalk walk_;
  Fd root_;  // the folder at `base_`, once something below it was asked for
};

}  // namespace muster::agent
