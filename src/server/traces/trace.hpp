#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "domain/trace_parent.hpp"
#include "ports/store.hpp"

namespace muster::server {

// Something that took time: a pass of a run, a visit of a stage, an attempt of a task.
struct Span {
  std::string id;      // 16 hex digits
  std::string parent;  // likewise; "" is none
  std::string name;
  WallTime start;
  WallTime end;  // zero: not yet
  bool failed = false;
  std::string message = {};  // why, when it failed
  std::vector<std::pair<std::string, std::variant<std::string, std::int64_t>>> attributes = {};
};

// What a run did, and when. All of it follows from the records, ids too: whoever makes it again,
// on another server or later, makes the same.
struct Trace {
  std::string id;           // 32 hex digits
  bool sampled = true;      // as its caller said
  bool failed = false;      // the run, in the pass that was read last
  std::vector<Span> spans;  // a parent before its children
};

// Of a run's tasks only so many have spans, and of more those that matter: first what did not
// succeed, then what took longest. The stage's span counts them all.
struct TraceScope {
  static constexpr std::size_t kMostTasks = 10'000;

  std::size_t tasks = 500;
  std::optional<std::uint32_t> pass = {};  // nothing: all of them
};

// kNotFound: there is no such run.
Result<Trace> ReadTrace(Store& store, RunId run, const TraceScope& scope);

// Under which span of which trace the attempt of a task happens, for what it calls.
Result<TraceParent> PlaceOf(Store& store, const TaskKey& task);

}  // namespace muster::server
