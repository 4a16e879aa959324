#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "domain/log.hpp"
#include "link/messages.hpp"
#include "server/gateway/held_outputs.hpp"

namespace muster::server {

// What a node may send output of, and how much: tasks it was told to go on with, and orders since,
// each up to its command's quota. The node keeps to that by itself; this is for one that does not,
// so that a host can fill the server's disk with no more than it was asked for. A task that a node
// lists in its Hello counts only as far as it is on record: anything can be listed.
class OutputBounds {
 public:
  // What is on record of the tasks that a Hello lists; before the Welcome that answers it.
  void Expect(const OutputRooms& rooms);

  // To the node. False: a task that it goes on with ended since it was looked up, so this server
  // does not know how much it may send. The link is to be closed then: at its next Hello that is
  // known.
  [[nodiscard]] bool Note(const link::ServerFrame& told);

  // Leaves out what is not expected of this host, and nothing more happens: a task may be forgotten
  // here while its last output is on the way, and a node that says Hello twice may send on from the
  // first Welcome, past what the second one says is durable. What came before is cut off the front
  // of a chunk, so that no byte is stored twice. What is another host's stays in: that is the
  // intake's business. Output that is not wanted, or of an ended task past its quota, is left out
  // too; the answer acknowledges it, as the node would keep its window for it else. kDenied: output
  // of an open task past its quota.
  Result<std::vector<link::LogAck>> Sift(HostId host, std::vector<LogChunk>& chunks);

  // Takes the totals out of reports about output that is not kept, as there is nothing to prove,
  // and out of all but a task's first since the last Welcome: a node tells them once in a session,
  // and to prove them may mean to read the output.
  void DropTotals(std::vector<link::Report>& reports);

 private:
  enum class Verdict : std::uint8_t { kTake, kLeaveOut, kAcknowledge, kTooMuch };
  Verdict Judge(LogChunk& chunk);

  struct Room {
    std::uint64_t next = 0;  // what came, or is durable, ends here
    std::uint64_t most = 0;  // bytes in all
    bool wanted = true;
    bool over = false;      // the task has ended, so its quota may not be known exactly
    bool totalled = false;  // its totals were told
  };
  std::unordered_map<TaskKey, Room> tasks_;
  OutputRooms expected_;
};

}  // namespace muster::server
