#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace muster::net {

// Items that wait for one worker, by the source they come from. The source that has used the least
// of the worker's time is next; among equals those that were not served yet come first, and then
// they take turns. Items of one source keep their order. So a source with costly items is served as
// long as others are, not as often.
//
// A source that had nothing to do saves up no time, and what one has used is kept until the others
// have caught up. Each call is O(log sources), Erase also takes the items of the source.
template <typename Item>
class FairQueue {
 public:
  using Nanoseconds = std::int64_t;

  void Push(const std::string& name, Item item) {
    const auto [at, is_new] = sources_.try_emplace(name);
    Source& source = at->second;
    if (is_new) source.used = now_;
    if (source.items.empty()) {
      idle_.erase(Idle(at->first, source));
      source.used = std::max(source.used, now_);
      Rank(at->first, source);
    }
    source.items.push_back(std::move(item));
  }

  // The next item and its source, to be charged for it before the next call of Take.
  std::optional<std::pair<std::string, Item>> Take() {
    if (waiting_.empty()) return std::nullopt;
    const auto [used, served, turn, name] = *waiting_.begin();
    waiting_.erase(waiting_.begin());
    now_ = std::max(now_, used);
    Source& source = sources_.find(*name)->second;
    std::pair<std::string, Item> next(*name, std::move(source.items.front()));
    source.items.pop_front();
    source.served = true;
    if (!source.items.empty()) Rank(*name, source);
    return next;
  }

  // The worker was busy for so long with the item that was taken last, of this source. Nothing when
  // the queue was emptied since.
  void Charge(const std::string& name, Nanoseconds time) {
    const auto at = sources_.find(name);
    if (at == sources_.end()) return;
    Source& source = at->second;
    idle_.erase(Idle(at->first, source));
    // The time that each source could have had meanwhile.
    const std::size_t sharing = waiting_.size() + (source.items.empty() ? 1 : 0);
    now_ += time / static_cast<Nanoseconds>(sharing);
    const bool waits = !source.items.empty();
    if (waits) waiting_.erase(Waiting(at->first, source));
    source.used += time;
    if (waits)
      Rank(at->first, source);
    else
      idle_.insert(Idle(at->first, source));
    Forget();
  }

  // Takes the item out; false when it does not wait.
  bool Erase(const std::string& name, const Item& item) {
    const auto at = sources_.find(name);
    if (at == sources_.end()) return false;
    Source& source = at->second;
    const auto found = std::ranges::find(source.items, item);
    if (found == source.items.end()) return false;
    source.items.erase(found);
    if (source.items.empty()) {
      waiting_.erase(Waiting(at->first, source));
      idle_.insert(Idle(at->first, source));
    }
    return true;
  }

  bool empty() const { return waiting_.empty(); }
  std::size_t sources() const { return sources_.size(); }

 private:
  struct Source {
    std::deque<Item> items = {};
    Nanoseconds used = 0;  // of the worker, or what it would have used if it had come earlier
    bool served = false;   // since it came
    std::uint64_t turn = 0;
  };
  struct Place {
    Nanoseconds used;
    bool served;
    std::uint64_t turn;
    const std::string* name;  // the key in sources_
    auto operator<=>(const Place&) const = default;
  };

  void Rank(const std::string& name, Source& source) {
    source.turn = next_turn_++;
    waiting_.insert(Waiting(name, source));
  }
  static Place Waiting(const std::string& name, const Source& source) {
    return {source.used, source.served, source.turn, &name};
  }
  static Place Idle(const std::string& name, const Source& source) {
    return {source.used, false, 0, &name};
  }

  void Forget() {
    while (!idle_.empty() && (waiting_.empty() || idle_.begin()->used <= now_)) {
      const std::string name = *idle_.begin()->name;
      idle_.erase(idle_.begin());
      sources_.erase(name);
    }
  }

  Nanoseconds now_ = 0;  // where a source begins that has used nothing of late
  std::uint64_t next_turn_ = 0;
  std::unordered_map<std::string, Source> sources_;
  std::set<Place> waiting_;  // sources with items
  std::set<Place> idle_;     // sources without, as Idle has them
};

}  // namespace muster::net
