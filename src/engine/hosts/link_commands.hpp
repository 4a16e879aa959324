#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/log_mark.hpp"
#include "domain/records.hpp"
#include "engine/caller.hpp"
#include "link/messages.hpp"

// What nodes say, as the gateway hands it in.
namespace muster::engine {

// A node said Hello. What the engine cannot know of ended attempts was looked up just before.
struct NodeHello {
  using Answer = NoAnswer;

  LinkId link;
  std::string key;  // id of the certificate's public key
  std::string address;
  link::Hello hello;
  // How the run of a task stands that is not on record itself.
  struct LookedRun {
    bool over = false;
    std::optional<StopWish> stop;
    CommitNumber stop_commit{};
  };
  struct Looked {
    std::optional<TaskRecord> record;
    std::uint64_t durable_log = 0;
    std::optional<LookedRun> run = {};
  };
  std::vector<Looked> looked;  // one for each of hello.tasks
  CommitNumber looked_at;
};

struct NodeReports {
  using Answer = NoAnswer;

  LinkId link;
  std::uint64_t session = 0;
  struct Marked {
    link::Report report;
    std::optional<LogMark> mark;  // when the output is durable and proven
  };
  std::vector<Marked> reports;
};

struct LinkClosed {
  using Answer = NoAnswer;

  LinkId link;
  Duration silent{};  // how long the node had said nothing by then
};

}  // namespace muster::engine
