#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "domain/records.hpp"
#include "engine/caller.hpp"
#include "engine/keeping/commands.hpp"
#include "engine/limiter/commands.hpp"
#include "ports/store.hpp"

// Starts of runs, and their answers.
namespace muster::engine {

struct RunStarted {
  RunId run;
  RunState state = RunState::kRunning;
  std::uint32_t hosts = 0;
  CommitNumber commit;
  bool repeated = false;      // the key was known: this is the run it started
  std::string left_out = {};  // as in its RunSpec
};

struct StartRun {
  using Answer = std::variant<RunStarted, GateClosed>;

  Caller caller;
  std::string key;  // Idempotency-Key, "" without one
  std::string body_sha256;
  ReadAt<std::optional<IdempotencyKey>> known;  // looked up just before
  RunSpec spec;
  std::shared_ptr<const Targets> targets;  // resolved, not empty
  std::string names = {};                  // the same, folded for the audit trail
  std::string reason = {};
  Origin origin = Origin::kPerson;
  bool during_freeze = false;        // the person knows of the freeze, and means it
  bool include_maintenance = false;  // also hosts under maintenance
  bool require_all = false;          // nothing is started when a host is left out
  std::string never_joined = {};     // in words: hosts that were meant and take no work
  FrozenHosts frozen = {};
  std::string trace_parent = {};  // as in Run
};

}  // namespace muster::engine
