#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "adapters/crypto/digest.hpp"
#include "adapters/logs/open_row.hpp"
#include "domain/log.hpp"

namespace muster::logs {

// A row of small chunks, and the day whose place it is in.
struct LastRow {
  std::string day;
  OpenRow row;
};

// How far one task's output is durable, and the hashes up to there, so that each byte is hashed
// once as it comes.
class OutputState {
 public:
  std::uint64_t End() const { return end_; }
  // Takes in what the chunk adds at the end; a chunk past the end adds nothing.
  void Extend(const LogChunk& chunk);
  std::string StdoutSha256() const { return out_ ? out_->Digest() : kEmptySha256; }
  std::string StderrSha256() const { return err_ ? err_->Digest() : kEmptySha256; }

  bool stale = false;  // there may be more in the store than this knows: read it back
  bool ahead = false;  // chunks past the end are durable
  // All of this came from the store, where another server may have written other bytes first.
  std::shared_ptr<const OutputState> read_back = {};
  // The last row that was written, while it is small: the next chunk may join it.
  std::optional<LastRow> last_row;

 private:
  std::uint64_t end_ = 0;
  std::optional<crypto::Sha256Stream> out_;  // once there is something to hash
  std::optional<crypto::Sha256Stream> err_;
};

// The states of the tasks written to last; those not used for longest are forgotten first.
class OutputStates {
 public:
  explicit OutputStates(std::size_t most) : most_(most) {}

  OutputState* Find(const TaskKey& task);
  // The state of a task, made when there is none; valid until the next Take or Drop.
  std::pair<OutputState*, bool> Take(const TaskKey& task);
  void Drop(const TaskKey& task);

 private:
  struct Entry {
    OutputState state;
    std::list<TaskKey>::iterator place;
  };

  const std::size_t most_;
  std::list<TaskKey> order_;  // used last, first
  std::unordered_map<TaskKey, Entry> entries_;
};

}  // namespace muster::logs
