#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "engine/command.hpp"

namespace muster::server {

// Hellos whose tasks are to be looked up, by the certificate's key. Of a key one is looked up at a
// time, so that one host keeps one worker busy and no more, however often it connects; and one
// waits, the newest, as a host counts by its last Hello alone. For one thread.
class HelloQueue {
 public:
  // The link whose Hello has to give way to this one, when that is another link.
  std::optional<LinkId> Put(engine::NodeHello hello) {
    auto& waiting = keys_[hello.key].waiting;
    std::optional<LinkId> instead;
    if (waiting && waiting->link != hello.link) instead = waiting->link;
    waiting = std::move(hello);
    return instead;
  }

  // The one to be looked up now; none while another of the key is.
  std::optional<engine::NodeHello> Next(const std::string& key) {
    const auto found = keys_.find(key);
    if (found == keys_.end() || found->second.looking || !found->second.waiting)
      return std::nullopt;
    found->second.looking = true;
    return std::exchange(found->second.waiting, std::nullopt);
  }

  // What Next gave is over.
  void Done(const std::string& key) {
    const auto found = keys_.find(key);
    if (found == keys_.end()) return;
    found->second.looking = false;
    if (!found->second.waiting) keys_.erase(found);
  }

  // The link is gone: nobody waits for its Hello.
  void Drop(LinkId link, const std::string& key) {
    const auto found = keys_.find(key);
    if (found == keys_.end() || !found->second.waiting || found->second.waiting->link != link)
      return;
    found->second.waiting.reset();
    if (!found->second.looking) keys_.erase(found);
  }

 private:
  struct OfKey {
    bool looking = false;
    std::optional<engine::NodeHello> waiting = {};
  };
  std::unordered_map<std::string, OfKey> keys_;
};

}  // namespace muster::server
