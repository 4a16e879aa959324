#pragma once

#include <cstdint>
#include <string>

#include <boost/json/value.hpp>

#include "base/instant.hpp"
#include "domain/task.hpp"

// How far a job is, stage by stage, on one line.
namespace muster::cli {

// "stage 2 of 5: roll, batch 3 of 7 · 3m20s, about 7m40s left" of what GET /runs/ID/summary says;
// "" when no stage is under way. The estimate is of the stage under way, by its share of hosts, and
// comes once that says something.
std::string StagesText(const boost::json::value& summary, WallTime now);

// "[#####-----] 4 of 12 · stage 2 of 5: roll · 1 failed, 3 succeeded", at most so many columns.
std::string JobBar(const TaskCounts& counts, std::uint64_t hosts, const std::string& stages,
                   std::size_t width);

}  // namespace muster::cli
