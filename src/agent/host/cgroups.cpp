#include "agent/host/cgroups.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "agent/files.hpp"
#include "agent/host/cgroup_places.hpp"
#include "agent/shim/processes.hpp"
#include "base/text.hpp"

namespace muster::agent {
namespace {

constexpr std::string_view kAgentGroup = "/agent";
constexpr std::string_view kControlGroup = "/.control";  // where systemd runs what follows a stop

std::string_view ControllerOf(Resource resource) {
  switch (resource) {
    case Resource::kMemory:
      return "memory";
    case Resource::kCpu:
      return "cpu";
    case Resource::kProcesses:
      return "pids";
  }
  return "";
}

// One file of a group, and what to write to it.
struct Knob {
  std::string_view file;
  std::string value;
  bool must = true;  // else: where the kernel has it
};

std::vector<Knob> KnobsOf(GroupVersion version, Resource resource, const Resources& limits) {
  constexpr std::uint64_t kPeriod = 100'000;  // microseconds, the kernel's default
  const bool v2 = version == GroupVersion::kV2;
  switch (resource) {
    case Resource::kMemory: {
      const auto bytes = std::to_string(limits.memory);
      if (v2)  // One process over the limit ends the task, not just some part of it.
        return {{"memory.max", bytes},
                {"memory.swap.max", "0", false},
                {"memory.oom.group", "1", false}};
      return {{"memory.limit_in_bytes", bytes}, {"memory.memsw.limit_in_bytes", bytes, false}};
    }
    case Resource::kCpu: {
      const auto quota = std::to_string(limits.cpu * kPeriod / 1000);
      if (v2) return {{"cpu.max", fmt::format("{} {}", quota, kPeriod)}};
      return {{"cpu.cfs_period_us", std::to_string(kPeriod)}, {"cpu.cfs_quota_us", quota}};
    }
    case Resource::kProcesses:
      return {{"pids.max", std::to_string(limits.processes)}};
  }
  return {};
}

// Files of a group are the kernel's: never created, and each write is one call.
int WriteKnob(const std::string& path, std::string_view value) noexcept {
  const int fd = ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (fd < 0) return errno;
  const ssize_t wrote = ::write(fd, value.data(), value.size());
  const int error = wrote < 0 ? errno : 0;
  ::close(fd);
  return error;
}

std::optional<std::uint64_t> ParseNumber(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size()) return {};
  return number;
}

// The number behind `key` in a file of lines "key number"; of the file's only line when empty.
std::uint64_t ReadNumber(const std::string& path, std::string_view key) {
  const auto text = ReadFile(path);
  if (!text) return 0;
  for (const auto line : Split(*text, '\n')) {
    const auto space = line.find(' ');
    const bool fits = key.empty() ? space == std::string_view::npos : line.substr(0, space) == key;
    if (!fits) continue;
    return ParseNumber(key.empty() ? line : line.substr(space + 1)).value_or(0);
  }
  return 0;
}

// The processes that the file lists, by their numbers alone: one that is in the group under the
// same number is to be killed as well.
std::vector<Process> ReadProcesses(const std::string& path) {
  std::vector<Process> processes;
  const auto text = ReadFile(path);
  if (!text) return processes;
  for (const auto line : Split(*text, '\n'))
    if (const auto pid = ParseNumber(line); pid && *pid > 1)
      processes.push_back({.pid = static_cast<pid_t>(*pid)});
  return processes;
}

void KillEach(const std::string& path) {
  EachHeld([&] { return ReadProcesses(path); },
           [](const Process&, const ProcessHandle& process) { process.Signal(SIGKILL); });
}

bool HasWord(const std::string& path, std::string_view word) {
  const auto text = ReadFile(path);
  if (!text) return false;
  const auto words = Split(Trim(*text), ' ');
  return std::ranges::find(words, word) != words.end();
}

std::set<std::string> FoldersOf(const std::vector<TaskGroup::Part>& parts) {
  std::set<std::string> folders;
  for (const auto& part : parts) folders.insert(part.path);
  return folders;
}

// Lets the groups below `folder` use the controller. A group that does so may hold no processes.
int HandDown(const std::string& folder, std::string_view controller) {
  const std::string knob = folder + "/cgroup.subtree_control";
  const std::string wish = fmt::format("+{}", controller);
  const int error = WriteKnob(knob, wish);
  if (error != EBUSY) return error;
  const std::string mine = fmt::format("{}{}", folder, kAgentGroup);
  if (::mkdir(mine.c_str(), 0755) != 0 && errno != EEXIST) return errno;
  const int moved = WriteKnob(mine + "/cgroup.procs", "0");
  const int enabled = moved != 0 ? moved : WriteKnob(knob, wish);
  if (enabled == 0) return 0;
  WriteKnob(folder + "/cgroup.procs", "0");
  ::rmdir(mine.c_str());
  return enabled;
}

std::string ExplainHandDown(const std::string& folder, int error) {
  if (error == EBUSY)
    return fmt::format(
        "other processes are in the agent's cgroup {}; give it one of its own (systemd: "
        "Delegate=yes)",
        folder);
  return fmt::format("{}/cgroup.subtree_control: {}", folder, ErrnoText(error));
}

}  // namespace

TaskGroup::TaskGroup(std::vector<Part> parts) : parts_(std::move(parts)) {
  for (const auto& folder : FoldersOf(parts_)) doors_.push_back(folder + "/cgroup.procs");
}

std::string TaskGroup::Encode() const {
  std::string text;
  for (const auto& part : parts_)
    text +=
        fmt::format("{} {} {}\n", Name(part.resource), static_cast<int>(part.version), part.path);
  return text;
}

Result<TaskGroup> TaskGroup::Parse(std::string_view text) {
  const auto damaged = [] {
    return Fail(ErrorCode::kInvalid, "the task's cgroup file is damaged");
  };
  std::vector<Part> parts;
  for (const auto line : Split(text, '\n')) {
    if (line.empty()) continue;
    const auto first = line.find(' ');
    if (first == std::string_view::npos || line.size() < first + 4 || line[first + 2] != ' ')
      return damaged();
    const auto resource = std::ranges::find_if(
        kResources, [&](Resource known) { return Name(known) == line.substr(0, first); });
    const char version = line[first + 1];
    if (resource == kResources.end() || (version != '1' && version != '2')) return damaged();
    parts.push_back(
        {*resource, static_cast<GroupVersion>(version - '0'), std::string(line.substr(first + 3))});
  }
  if (parts.empty()) return damaged();
  return TaskGroup(std::move(parts));
}

Result<> TaskGroup::Make(const Resources& limits) const {
  const auto fail = [&](const std::string& what, int error) {
    Remove();
    return Fail(ErrorCode::kUnavailable, "cannot limit the task: {}: {}", what, ErrnoText(error));
  };
  for (const auto& folder : FoldersOf(parts_))
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return fail(folder, errno);
  for (const auto& part : parts_)
    for (const auto& knob : KnobsOf(part.version, part.resource, limits)) {
      const std::string path = fmt::format("{}/{}", part.path, knob.file);
      if (const int error = WriteKnob(path, knob.value); error != 0 && knob.must)
        return fail(path, error);
    }
  return {};
}

TaskGroup::Usage TaskGroup::Read() const {
  Usage usage;
  for (const auto& part : parts_) {
    if (part.resource != Resource::kMemory) continue;
    const bool v2 = part.version == GroupVersion::kV2;
    usage.peak_memory =
        ReadNumber(part.path + (v2 ? "/memory.peak" : "/memory.max_usage_in_bytes"), "");
    usage.oom_kills =
        ReadNumber(part.path + (v2 ? "/memory.events" : "/memory.oom_control"), "oom_kill");
  }
  return usage;
}

void TaskGroup::Kill() const {
  for (const auto& folder : FoldersOf(parts_)) {
    if (WriteKnob(folder + "/cgroup.kill", "1") != 0) KillEach(folder + "/cgroup.procs");
  }
}

void TaskGroup::Remove() const {
  for (const auto& folder : FoldersOf(parts_)) ::rmdir(folder.c_str());
}

Cgroups Cgroups::Open(const Options& options) {
  const auto mounts = ReadFile(options.mounts);
  const auto own = ReadFile(options.own);
  if (!mounts) return None(mounts.error().message);
  if (!own) return None(own.error().message);
  Cgroups groups;
  for (const Resource resource : kResources)
    groups.places_[static_cast<std::size_t>(resource)] = Find(resource, *mounts, *own);
  return groups;
}

Result<> Cgroups::Release(const Options& options) {
  const auto mounts = ReadFile(options.mounts);
  const auto own = ReadFile(options.own);
  if (!mounts) return Fail(mounts.error());
  if (!own) return Fail(own.error());
  auto group = OwnGroup(*own, "");
  if (!group) return {};
  if (group->ends_with(kControlGroup)) group->resize(group->size() - kControlGroup.size());
  const auto folder = GroupFolder(*mounts, "", *group);
  if (!folder || !Exists(fmt::format("{}{}", *folder, kAgentGroup))) return {};
  const std::string knob = *folder + "/cgroup.subtree_control";
  std::string wish;
  for (const Resource resource : kResources)
    if (HasWord(knob, ControllerOf(resource))) wish += fmt::format("-{} ", ControllerOf(resource));
  const int error = wish.empty() ? 0 : WriteKnob(knob, wish);
  if (error != 0) return Fail(ErrorCode::kUnavailable, "{}: {}", knob, ErrnoText(error));
  return {};
}

Cgroups Cgroups::None(const std::string& reason) {
  Cgroups groups;
  for (auto& place : groups.places_) place.why_not = reason;
  return groups;
}

Cgroups::Place Cgroups::Find(Resource resource, std::string_view mounts, std::string_view own) {
  const auto controller = ControllerOf(resource);
  Place place;
  const auto cannot = [&](std::string reason) {
    place.why_not = std::move(reason);
    return place;
  };
  auto group = OwnGroup(own, controller);
  place.version = group ? GroupVersion::kV1 : GroupVersion::kV2;
  if (!group) group = OwnGroup(own, "");
  if (!group) return cannot("this kernel has no control groups");
  const auto folder =
      GroupFolder(mounts, place.version == GroupVersion::kV1 ? controller : "", *group);
  if (!folder) return cannot(fmt::format("cgroup controller '{}' is not mounted", controller));
  place.parent = *folder;
  if (::access(folder->c_str(), W_OK) != 0)
    return cannot(fmt::format("cgroup {}: {}", *folder, ErrnoText(errno)));
  if (place.version == GroupVersion::kV1) return place;
  if (!HasWord(*folder + "/cgroup.controllers", controller))
    return cannot(fmt::format("cgroup {} has no controller '{}'", *folder, controller));
  if (HasWord(*folder + "/cgroup.subtree_control", controller)) return place;
  if (const int error = HandDown(*folder, controller))
    return cannot(ExplainHandDown(*folder, error));
  return place;
}

Result<TaskGroup> Cgroups::GroupOf(std::string_view task, const Resources& limits) const {
  std::vector<TaskGroup::Part> parts;
  for (const Resource resource : LimitedOf(limits)) {
    const Place& place = places_[static_cast<std::size_t>(resource)];
    if (place.why_not)
      return Fail(ErrorCode::kUnavailable, "cannot limit {}: {}", Name(resource), *place.why_not);
    parts.push_back({resource, place.version, fmt::format("{}/{}{}", place.parent, prefix_, task)});
  }
  return TaskGroup(std::move(parts));
}

void Cgroups::Tidy(const std::set<std::string>& keep) const {
  std::set<std::string> parents;
  for (const auto& place : places_)
    if (!place.why_not) parents.insert(place.parent);
  for (const auto& parent : parents) {
    std::error_code problem;
    std::vector<std::string> left;
    for (std::filesystem::directory_iterator entry(parent, problem), end; !problem && entry != end;
         entry.increment(problem)) {
      const auto name = entry->path().filename().string();
      if (name.starts_with(prefix_) && !keep.contains(name.substr(prefix_.size())))
        left.push_back(entry->path().string());
    }
    for (const auto& path : left) ::rmdir(path.c_str());
  }
}

}  // namespace muster::agent
