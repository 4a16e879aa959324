#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/id.hpp"
#include "base/result.hpp"

namespace muster {

// A run: its number inside an id space. A store begins with space 0; a restore from backup opens
// the next one, so that no id is ever given twice. Typed and printed as "r1042", later "r1.1043".
using RunId = Id<struct RunTag>;
constexpr int kRunNumberBits = 48;
constexpr RunId MakeRunId(std::uint64_t space, std::uint64_t number) {
  return RunId(space << kRunNumberBits | number);
}
constexpr std::uint64_t SpaceOf(RunId id) { return id.value >> kRunNumberBits; }
std::string FormatRunId(RunId id);
Result<RunId> ParseRunId(std::string_view text);

using HostId = Id<struct HostTag>;
using Visit =
    Id<struct VisitTag, std::uint32_t>;  // one entry into a stage; numbered through the run
using Attempt = Id<struct AttemptTag, std::uint32_t>;  // of one task, from 1
using Term = Id<struct TermTag>;                       // of a leadership, allotted by the store
using CommitNumber = Id<struct CommitTag>;  // of a batch; grows through all terms of a store
using LinkId = Id<struct LinkTag>;          // one connection of a node, unique in a server's life
using RequestId = Id<struct RequestTag>;    // a caller who waits for the engine's answer

// A task attempt, as every party names it. `ordinal` is the host's place in the run's frozen list
// of targets; with it the engine finds the task without a search.
struct TaskKey {
  RunId run;
  Visit visit;
  std::uint32_t ordinal = 0;
  HostId host;
  Attempt attempt;

  friend constexpr auto operator<=>(const TaskKey&, const TaskKey&) = default;
};

std::string FormatTaskKey(const TaskKey& key);  // "r12/1/0/h7/1": for logs and folder names use '-'

}  // namespace muster

template <>
struct std::hash<muster::TaskKey> {
  std::size_t operator()(const muster::TaskKey& key) const noexcept;
};
