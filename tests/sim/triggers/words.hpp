#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ports/store.hpp"

namespace muster::sim {

// What runs say back to their triggers, told from durable batches alone: the words of a run are
// taken over in the batch that ends it, once, and by nothing else. And of each trigger whose runs
// came one after the other, the changes of its condition that a run acted on alternate.
class Words {
 public:
  // The promises that this batch breaks.
  std::vector<std::string> Take(const Batch& batch);

  // The disk came from a backup: what was open says nothing any more.
  void Restore();

  std::uint64_t taken = 0;    // runs that said something
  std::uint64_t changes = 0;  // of conditions, that were acted on

 private:
  using Outputs = std::map<std::string, std::string>;
  struct Open {
    std::string trigger;
    Outputs said;
    bool alone = true;  // no other run of its trigger was open meanwhile
    bool restored = false;
  };
  struct Life {
    Outputs data;
    std::string status;
    bool dropped = false;
    bool fires = false;  // as somebody was told last
  };

  void TakeRun(const Run& run);
  void End(const Run& run, const Open& open);
  void TakeChange(const Run& run, const Open& open, Life& life);
  void Compare(const std::string& name, const Trigger& row, bool ended);

  std::map<RunId, Open> open_;
  std::map<std::string, Life> lives_;
  std::set<std::string> ended_;    // triggers with a run that ended in this batch
  std::set<std::string> crowded_;  // of these, where others were open meanwhile
  std::vector<std::string> broken_;
};

}  // namespace muster::sim
