#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "base/result.hpp"
#include "domain/pull_paths.hpp"
#include "domain/pulled_line.hpp"

namespace muster::cli {

// What one host may bring in a fetch. The list of its files is the host's own word, so each line is
// held to what was asked for before anything is written.
class HostShare {
 public:
  // `asked` must outlive it.
  HostShare(std::span<const std::string> asked, std::uint64_t max_bytes)
      : asked_(asked), max_bytes_(max_bytes) {}

  // Counts the file in. kDenied and why: it was not asked for, has the name of another one, or is
  // one or more bytes too many. Then it does not count.
  Result<> Admit(const PulledLine& line);

  // How many folders may still be made for the host.
  std::size_t& FolderRoom() { return folder_room_; }

 private:
  std::span<const std::string> asked_;
  std::uint64_t max_bytes_;
  std::uint64_t bytes_ = 0;
  std::set<std::string> paths_;
  std::size_t folder_room_ = kMostPulledFiles;
};

// The mode that a fetched file gets here, before the umask. Of the host's mode others keep reading
// and executing; the owner can always read and write. Nothing special, and no writing by others:
// the host does not decide who may change files here.
constexpr std::uint32_t ModeHere(std::uint32_t mode_there) { return (mode_there & 0755) | 0600; }

}  // namespace muster::cli
