#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "adapters/etcd/messages.hpp"
#include "base/mutex.hpp"

namespace muster::etcd {

// Where Muster's keys lie.
struct Keys {
  explicit Keys(const std::string& prefix_in)
      : prefix(prefix_in), leader(prefix + "leader"), members(prefix + "members/") {}

  std::string prefix;
  std::string leader;   // -> LeaderText
  std::string members;  // + name -> MemberText
};

// How far one reader has read. A linearizable read never goes back, unless etcd itself was restored
// or rebuilt: then what was known before means nothing.
struct Position {
  std::string cluster;
  Revision revision = 0;
};

// What is known of the keys, put together from reads and events that overtake each other: of each
// key the highest revision counts. Safe from any thread.
class View {
 public:
  explicit View(Keys keys) : keys_(std::move(keys)) {}

  // Each returns true when the leader or the members look different now.
  bool Replace(const Snapshot& snapshot, Position& reader) EXCLUDES(mutex_);
  bool Apply(std::span<const KeyValue> events) EXCLUDES(mutex_);

  std::string Leader() const EXCLUDES(mutex_);
  std::vector<Member> Members() const EXCLUDES(mutex_);  // by name
  // As it is known; nothing when it is not there.
  std::optional<KeyValue> Find(const std::string& key) const EXCLUDES(mutex_);

 private:
  void Take(const KeyValue& news) REQUIRES(mutex_);
  bool Redraw() REQUIRES(mutex_);

  const Keys keys_;
  mutable base::Mutex mutex_;
  std::map<std::string, KeyValue> known_ GUARDED_BY(mutex_);  // with what was deleted lately
  Revision floor_ GUARDED_BY(mutex_) = 0;                     // all up to here is known from a read
  std::string leader_ GUARDED_BY(mutex_);
  std::vector<Member> members_ GUARDED_BY(mutex_);
};

}  // namespace muster::etcd
