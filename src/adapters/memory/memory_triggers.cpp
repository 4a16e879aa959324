#include <map>

#include "adapters/memory/memory_disk.hpp"
#include "adapters/memory/memory_store.hpp"

// Triggers and their slots.
namespace muster {

void MemoryDisk::Put(const PutTrigger& put) { triggers[put.trigger.spec.name] = put.trigger; }

void MemoryDisk::Put(const PutSlot& put) {
  slots[{put.slot.trigger, put.slot.first, put.slot.act}] = put.slot;
}

void MemoryDisk::Put(const DropSlot& drop) { slots.erase({drop.trigger, drop.first, drop.act}); }

void MemoryDisk::Put(const PutTriggerCounts& put) { trigger_counts = put.counts; }

TriggerCounts MemoryDisk::CountTriggers() const {
  if (trigger_counts) return *trigger_counts;
  TriggerCounts counts;
  for (const auto& [name, trigger] : triggers)
    if (const auto state = CountedAs(trigger)) ++counts.Of(*state);
  return counts;
}

Result<ReadAt<std::optional<Trigger>>> MemoryStore::FindTrigger(std::string_view name) {
  base::Lock lock(disk_->mutex);
  ReadAt<std::optional<Trigger>> answer{.value = {}, .commit = disk_->fence.number};
  const auto found = disk_->triggers.find(name);
  if (found != disk_->triggers.end()) answer.value = found->second;
  return answer;
}

Result<std::vector<Trigger>> MemoryStore::ListTriggers(std::string_view after, std::size_t limit) {
  base::Lock lock(disk_->mutex);
  std::vector<Trigger> list;
  for (auto at = disk_->triggers.upper_bound(after);
       at != disk_->triggers.end() && list.size() < limit; ++at)
    if (!at->second.dropped) list.push_back(at->second);
  return list;
}

Result<ReadAt<std::vector<Trigger>>> MemoryStore::DueTriggers(const DueCursor& after,
                                                              std::int64_t until,
                                                              std::size_t limit) {
  base::Lock lock(disk_->mutex);
  std::map<std::pair<std::int64_t, std::string>, const Trigger*> due;
  for (const auto& [name, trigger] : disk_->triggers) {
    const std::pair place{DueHour(trigger), name};
    if (place.first > 0 && place.first <= until && place > std::pair{after.hour, after.name})
      due[place] = &trigger;
  }
  ReadAt<std::vector<Trigger>> answer{.value = {}, .commit = disk_->fence.number};
  for (const auto& [place, trigger] : due)
    if (answer.value.size() < limit) answer.value.push_back(*trigger);
  return answer;
}

Result<std::vector<SlotRecord>> MemoryStore::ListSlots(std::string_view trigger,
                                                       const SlotFilter& filter,
                                                       std::optional<SlotCursor> before,
                                                       std::size_t limit) {
  base::Lock lock(disk_->mutex);
  const std::string name(trigger);
  auto at =
      disk_->slots.lower_bound(before ? MemoryDisk::SlotPlace{name, before->first, before->act}
                                      : MemoryDisk::SlotPlace{name + '\0', {}, 0});
  std::vector<SlotRecord> list;
  while (at != disk_->slots.begin() && list.size() < limit) {
    const SlotRecord& slot = (--at)->second;
    if (slot.trigger != name) break;
    if (filter.until && slot.first >= filter.until) continue;
    if (filter.since && slot.last < filter.since) continue;
    if (!filter.fate || slot.fate == *filter.fate) list.push_back(slot);
  }
  return list;
}

}  // namespace muster
