#pragma once

#include <cstdint>
#include <unordered_map>

#include "domain/log.hpp"
#include "link/messages.hpp"

namespace muster::server {

// What a node may send output of, and how much: tasks it was told to go on with, and orders since,
// each up to its command's quota. The node keeps to that by itself; this is for one that does not,
// so that a host can fill the server's disk with no more than it was asked for.
class OutputBounds {
 public:
  void Begin(const link::Welcome& welcome);
  void Add(const link::Order& order);
  void Forget(const TaskKey& task) { tasks_.erase(task); }

  enum class Verdict : std::uint8_t {
    kTake,
    // A task may be forgotten here while its last output is on the way, and a node that says Hello
    // twice may send on from the first Welcome: output that is not expected, or that begins past
    // what came before it, is left out and nothing more. The node sends from where it was told.
    kLeaveOut,
    kTooMuch,  // past the quota
  };
  Verdict Judge(const LogChunk& chunk);

 private:
  struct Room {
    std::uint64_t next = 0;  // what came, or is durable, ends here
    std::uint64_t most = 0;  // bytes in all
  };
  std::unordered_map<TaskKey, Room> tasks_;
};

}  // namespace muster::server
