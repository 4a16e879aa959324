#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include "base/instant.hpp"
#include "domain/task.hpp"

// How far a job is, stage by stage, on one line.
namespace muster::cli {

// How long the batches of stages take, from looks at a run that follow each other.
class BatchPace {
 public:
  // What GET /runs/ID/summary said at that moment.
  void See(const boost::json::value& summary, WallTime now);

  // Of a stage of such a summary, while one of its batches is under way: for the hosts that are
  // left the time that those of ended batches took, less what the current batch has used; so a
  // batch that takes as long as those before it changes nothing. Nothing until one was seen to end.
  std::optional<Duration> Left(const boost::json::value& stage, WallTime now) const;

 private:
  struct Seen {
    std::int64_t visits = 0;
    std::int64_t batch = 0;     // the current one
    WallTime began;             // it; zero: before the first look
    Duration took{0};           // batches that were seen whole
    std::int64_t hosts = 0;     // in those
    std::int64_t hosts_before;  // the current one
  };
  void SeeStage(const boost::json::value& stage, WallTime now);

  std::map<std::string, Seen> stages_;  // by name
};

// "stage 2 of 5: roll, batch 3 of 7 · 3m20s, about 7m40s left" of what GET /runs/ID/summary says;
// "" when no stage is under way. It counts the stages that no other holds. The estimate is of the
// stage under way: by its ended batches, or without batches by its share of ended hosts, and comes
// once that says something.
std::string StagesText(const boost::json::value& summary, const BatchPace& pace, WallTime now);

// "  verify": the name of one of these stages of a run, below those that hold it.
std::string StageCell(const boost::json::array& stages, const boost::json::value& stage);

// "1 failed, 2 succeeded": the tasks of a stage of a run. Those of a stage that was entered more
// than once are of all its visits, and it says so: "2 visits: 1 failed"; "earlier: 1 failed" when
// it was skipped after them.
std::string StageCountsText(const boost::json::value& stage);

// "[#####-----] 4 of 12 · stage 2 of 5: roll · 1 failed, 3 succeeded", at most so many columns.
std::string JobBar(const TaskCounts& counts, std::uint64_t hosts, const std::string& stages,
                   std::size_t width);

}  // namespace muster::cli
