#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/triggers/timetable.hpp"
#include "ports/store.hpp"
#include "sim/triggers/words.hpp"

namespace muster::sim {

// What a history promised, told from the batches that reached the disk and from nothing the engine
// thinks. One for each disk: a backup takes its book along.
class Book {
 public:
  explicit Book(const engine::Zones& zones) : zones_(&zones) {}

  // A batch that is durable now.
  void Take(const Batch& batch, WallTime now);

  // The ledger against the schedules: each slot up to the mark is in exactly one row, and rows hold
  // nothing else.
  void CheckLedger(Store& store);

  // The same as a person's check would find it (`muster check slots`), from the store alone.
  void CheckRecord(Store& store, WallTime now);

  // Nothing that is due was left undecided, but for what waits for an open run.
  void CheckSettled(Store& store, WallTime now);

  // The disk came from a backup.
  void Restore() { words_.Restore(); }

  // Every one of these is a broken promise.
  const std::vector<std::string>& Broken() const { return broken_; }

  // Slots started by schedule, ever: a restore forgets rows, the world does not.
  using Started = std::set<std::pair<std::string, WallTime>>;
  void Share(Started* started) { started_ = started; }

  const Words& words() const { return words_; }

  std::uint64_t starts = 0;
  std::map<std::string, std::uint64_t> skips;  // by reason, as far as the ledger was checked

 private:
  // A time in which a trigger had one schedule: slots in (from, to].
  struct Segment {
    TriggerSpec spec;
    WallTime applied;
    WallTime from;
    WallTime to;
  };
  struct Life {
    Trigger row;
    std::vector<Segment> segments;
    std::set<RunId> open;
    std::map<std::uint32_t, TriggerSpec> versions;
    // Slots that runs asked for: on record when true; when false they may have been forgotten
    // first, for another wish or document.
    std::map<WallTime, bool> asked;
  };

  void TakeTrigger(const Trigger& trigger);
  void TakeSlot(const SlotRecord& slot, WallTime now);
  void TakeRun(const Run& run);
  void TakeAsked(Life& life, const Trigger& after);
  // Slots, and whether each must be on record.
  using Slots = std::map<WallTime, bool>;
  void CheckRows(const std::string& name, Slots left, const std::vector<SlotRecord>& rows);
  Slots Expected(const Life& life) const;

  template <typename... Parts>
  void Break(fmt::format_string<Parts...> words, Parts&&... parts) {
    if (broken_.size() < 10) broken_.push_back(fmt::format(words, std::forward<Parts>(parts)...));
  }

  const engine::Zones* zones_;
  std::map<std::string, Life> lives_;
  Started* started_ = nullptr;
  Words words_;
  std::set<std::string> ended_;  // triggers with a run that ended in the batch just taken
  std::vector<std::string> broken_;
};

}  // namespace muster::sim
