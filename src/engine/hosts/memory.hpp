#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "domain/records.hpp"
#include "engine/runs/task_place.hpp"

// What the engine holds of hosts.
namespace muster::engine {

// What a host has sent for a task that takes files from it. Known from messages of this term only.
struct SentFile {
  std::uint64_t size = 0;
  bool kept = false;  // it came whole, and stays
};
struct SentFiles {
  std::unordered_map<std::string, SentFile> files;  // by hash
  std::uint64_t bytes = 0;
};

// An agent of a host that is shown as a copy, as long as no other of that host was heard.
struct LoneAgent {
  std::string store;
  std::string boot;
  std::uint64_t session = 0;
  MonoTime since{};
  MonoTime heard{};
  std::uint32_t hellos = 0;
};

struct HostEntry {
  Host host;
  LinkId link;   // none: offline
  LinkId asked;  // the latest that was asked to say Hello again, having counted lower
  std::optional<LoneAgent> heard_alone = {};
  bool settled = false;  // said Hello in this term
  std::string address;
  std::vector<std::string> features;
  std::set<TaskPlace> open;             // attempts sent to it
  std::set<TaskPlace> queued;           // tasks that wait for it
  std::map<TaskPlace, SentFiles> sent;  // of `open`
  // When output of an ended task was last proven or given up in this term: a look-up from before
  // that may still call it awaited.
  CommitNumber output_over;

  void Close(const TaskPlace& place) {
    open.erase(place);
    sent.erase(place);
  }
  bool Online() const { return static_cast<bool>(link); }
};

struct HostMemory {
  std::uint64_t next = 1;
  std::unordered_map<HostId, HostEntry> entries;
  std::unordered_map<std::string, HostId> by_key;
  std::unordered_map<std::string, HostId> by_name;
  std::unordered_map<LinkId, HostId> by_link;
  std::unordered_map<std::string, Invite> invites;
  struct Pending {
    PendingJoin join;
    MonoTime asked;  // when it last did
  };
  std::map<std::string, Pending, std::less<>> pending;  // by name
};

}  // namespace muster::engine
