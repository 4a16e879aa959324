#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "domain/log.hpp"
#include "link/messages.hpp"

namespace muster::server {

// What a node may send output of, and how much: tasks it was told to go on with, and orders since,
// each up to its command's quota. The node keeps to that by itself; this is for one that does not,
// so that a host can fill the server's disk with no more than it was asked for.
class OutputBounds {
 public:
  void Note(const link::ServerFrame& told);  // to the node

  // Leaves out what is not expected of this host, and nothing more happens: a task may be forgotten
  // here while its last output is on the way, and a node that says Hello twice may send on from the
  // first Welcome, past what the second one says is durable. What is another host's stays in: that
  // is the intake's business. kDenied: output past its task's quota.
  Result<> Sift(HostId host, std::vector<LogChunk>& chunks);

 private:
  enum class Verdict : std::uint8_t { kTake, kLeaveOut, kTooMuch };
  Verdict Judge(const LogChunk& chunk);

  struct Room {
    std::uint64_t next = 0;  // what came, or is durable, ends here
    std::uint64_t most = 0;  // bytes in all
  };
  std::unordered_map<TaskKey, Room> tasks_;
};

}  // namespace muster::server
