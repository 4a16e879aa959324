#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "domain/records.hpp"
#include "domain/run.hpp"
#include "link/messages.hpp"

namespace muster::sim {

// Promise 3 over the processes that really run: which of them are under which concurrency key. In a
// history a key says its maximum behind the slash, and has no template.
class KeyWatch {
 public:
  // Records that reached the disk.
  void RunWritten(const Run& run) { runs_[run.id] = run; }
  void Held(const KeyHold& hold) { held_[hold.key].insert(hold.task); }
  void Dropped(const KeyHold& hold);
  // At the end of a batch: no process is left without the key that it works under.
  void CheckDropped();

  void Starts(const link::Order& order);
  void Ends(const TaskKey& task);
  // Which runs are open, and what is held.
  std::string Describe() const;
  // At the end of a history: every key was given back.
  void CheckEnd() const;
  // The records are those of a backup: what runs under a key now is not known to them.
  void Forget();

 private:
  struct Under {
    std::string key;
    TaskKey holder;  // the topmost run that wants the key, or the task itself
  };
  std::vector<Under> KeysOf(const link::Order& order) const;
  bool IsCovered(const TaskKey& task, const Under& under) const;

  std::map<RunId, Run> runs_;
  std::map<std::string, std::set<TaskKey>> held_;  // on record
  std::set<std::string> dropped_;                  // keys, in this batch
  std::map<TaskKey, std::vector<Under>> working_;
  std::map<std::string, std::map<TaskKey, std::set<TaskKey>>> at_work_;  // by key and holder
};

}  // namespace muster::sim
