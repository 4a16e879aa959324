#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/records.hpp"
#include "engine/caller.hpp"
#include "engine/kinds.hpp"
#include "engine/runs/start_commands.hpp"
#include "engine/runs/steer_commands.hpp"

// Commands about runs, and their answers.
namespace muster::engine {

struct WhyAnswer {
  struct Line {
    std::string host;
    TaskState state = TaskState::kWaiting;
    std::string because;
  };
  std::vector<std::string> summary;
  std::vector<Line> waiting;  // at most 100
};

struct AskWhy {
  using Answer = WhyAnswer;

  Caller caller;
  RunId run;
  std::optional<HostId> host;
};

struct FileAnswer {
  bool may = false;
  std::string why = {};  // it may not
};

// May a host have to do with a file now: read it, as an open task of its brings it there, or send
// some, as one takes them from there? Without a key: does any open run name it?
struct AskFile {
  using Answer = FileAnswer;

  Caller caller;
  std::string key;     // of the host's certificate
  std::string sha256;  // 32 bytes
  bool sends = false;
  // With `sends`: it is about to be sent and has so many bytes, which count for the task that takes
  // it. Without: could a file be sent at all?
  std::optional<std::uint64_t> size = {};
  // With `sends`: a file came whole and is kept, or what came is not kept and counts no longer.
  // What was kept once counts until the task ends.
  bool kept = false;
  bool discarded = false;
};

// How a task that the server carried out itself ended.
struct ServerReport {
  using Answer = NoAnswer;

  TaskKey task;
  TaskEnd end;
};

using RunCommands = Kinds<StartRun, StopRun, PauseRun, ResumeRun, RetryRun, SkipStage,
                          AnswerApproval, SetRun, AskWhy, AskFile, ServerReport>;

}  // namespace muster::engine
