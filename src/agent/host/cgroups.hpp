#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "domain/resources.hpp"

// Limits of tasks through the kernel's control groups. Version 2 has one tree of groups for all
// controllers; version 1 one tree for each; many hosts have both, each with some of them. A task
// with limits gets a group of its own wherever a controller it needs lives, beside the group of the
// agent: below the one a service manager gave to it, so that nobody else touches it.
//
// The agent makes the group and writes the limits; the shim puts the first process in, stays
// outside itself, reads what was used, and removes the group. See docs/decisions/0021.
namespace muster::agent {

enum class GroupVersion : int { kV1 = 1, kV2 = 2 };

// The groups of one task.
class TaskGroup {
 public:
  struct Part {
    Resource resource = Resource::kMemory;
    GroupVersion version = GroupVersion::kV2;
    std::string path;  // of the group's folder; with v2 the same one for all parts

    friend bool operator==(const Part&, const Part&) = default;
  };

  // What was used, as far as the kernel tells.
  struct Usage {
    std::uint64_t peak_memory = 0;  // bytes; 0 when unknown
    std::uint64_t oom_kills = 0;    // processes the kernel ended at the memory limit
  };

  TaskGroup() = default;
  explicit TaskGroup(std::vector<Part> parts);

  const std::vector<Part>& Parts() const noexcept { return parts_; }
  explicit operator bool() const noexcept { return !parts_.empty(); }

  // As kept in a task's folder.
  std::string Encode() const;
  static Result<TaskGroup> Parse(std::string_view text);  // kInvalid when damaged

  // Creates the groups that are missing and writes the limits, also over older ones. On failure
  // what was created is removed.
  Result<> Make(const Resources& limits) const;

  // The files that take a process in: the one that writes "0" to them.
  const std::vector<std::string>& Doors() const noexcept { return doors_; }

  Usage Read() const;

  // KILL to everything in it. With v2 at one moment, so that nothing forks away.
  void Kill() const;

  // Fails quietly while a process is inside.
  void Remove() const;

 private:
  std::vector<Part> parts_;
  std::vector<std::string> doors_;
};

// Where the groups of this agent's tasks are made.
class Cgroups {
 public:
  struct Options {
    std::string mounts = "/proc/self/mountinfo";
    std::string own = "/proc/self/cgroup";
  };

  // Looks where this process is and tries which limits work there. Never fails: what does not work
  // has a reason. With v2 a group that hands out controllers may hold no process, so this process
  // moves into a group of its own below, `agent`.
  static Cgroups Open(const Options& options);

  // For the service manager, after an agent ended: takes back what Open handed out to the groups
  // below that of the agent. Version 2 has no room for a process in a group that hands out
  // controllers, so systemd could not put the next agent there while tasks keep the group alive.
  // Their limits are not in force until that agent sets them again. Does nothing where Open moved
  // no agent. kUnavailable: the kernel refuses.
  static Result<> Release(const Options& options);

  // Of the names of all its groups; differs between agents.
  void UsePrefix(std::string prefix) { prefix_ = std::move(prefix); }

  // Every limit is refused, for `reason`.
  static Cgroups None(const std::string& reason);

  // Why `resource` cannot be limited here; nothing when it can.
  const std::optional<std::string>& WhyNot(Resource resource) const noexcept {
    return places_[static_cast<std::size_t>(resource)].why_not;
  }

  // The groups a task of this name has; nothing is made yet. kUnavailable when one of its limits
  // cannot be set here.
  Result<TaskGroup> GroupOf(std::string_view task, const Resources& limits) const;

  // Removes what earlier tasks left: groups of this agent's in which nothing lives any more, but
  // not those of the tasks in `keep`.
  void Tidy(const std::set<std::string>& keep) const;

 private:
  struct Place {
    GroupVersion version = GroupVersion::kV2;
    std::string parent;  // folder of the group that holds those of the tasks
    std::optional<std::string> why_not;
  };
  static Place Find(Resource resource, std::string_view mounts, std::string_view own);

  std::string prefix_ = "muster-";
  std::array<Place, kResources.size()> places_;
};

}  // namespace muster::agent
