#include "adapters/etcd/view.hpp"

#include <algorithm>

namespace muster::etcd {

bool View::Replace(const Snapshot& snapshot, Position& reader) {
  base::Lock lock(mutex_);
  const bool first = reader.cluster.empty();
  if (!first && (snapshot.cluster != reader.cluster || snapshot.revision < reader.revision)) {
    known_.clear();
    floor_ = 0;
  }
  reader = {snapshot.cluster, snapshot.revision};
  if (snapshot.revision < floor_) return false;  // overtaken by another reader
  std::erase_if(known_,
                [&](const auto& entry) { return entry.second.revision <= snapshot.revision; });
  for (const KeyValue& found : snapshot.found) Take(found);
  floor_ = snapshot.revision;
  return Redraw();
}

bool View::Apply(std::span<const KeyValue> events) {
  base::Lock lock(mutex_);
  for (const KeyValue& event : events)
    if (event.revision > floor_) Take(event);
  return Redraw();
}

void View::Take(const KeyValue& news) {
  auto& known = known_[news.key];
  if (news.revision > known.revision) known = news;
}

bool View::Redraw() {
  std::string leader;
  std::vector<Member> members;
  for (const auto& [key, kv] : known_) {
    if (kv.deleted) continue;
    if (key == keys_.leader) leader = ReadLeader(kv.value).value_or("");
    if (!key.starts_with(keys_.members)) continue;
    if (auto member = ReadMember(kv.value)) members.push_back(std::move(*member));
  }
  std::ranges::sort(members, {}, &Member::name);
  if (leader == leader_ && members == members_) return false;
  leader_ = std::move(leader);
  members_ = std::move(members);
  return true;
}

std::string View::Leader() const {
  base::Lock lock(mutex_);
  return leader_;
}

std::vector<Member> View::Members() const {
  base::Lock lock(mutex_);
  return members_;
}

std::optional<KeyValue> View::Find(const std::string& key) const {
  base::Lock lock(mutex_);
  const auto found = known_.find(key);
  if (found == known_.end() || found->second.deleted) return std::nullopt;
  return found->second;
}

}  // namespace muster::etcd
