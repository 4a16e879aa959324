#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "domain/run.hpp"

// Where the flow of a plan can lead to, computed once for all its stages.
namespace muster {

struct StageFlow {
  std::vector<std::uint32_t> inner = {};  // the stages it holds
  // Of the main list: the last stage before it that can lead past it, and whether a branch can.
  std::optional<std::uint32_t> passed_by = {};
  bool passed_by_branch = false;
  // Of a branch that leads back to the main list: the last stage there that can lead to it, and the
  // first one that it can lead back to.
  std::optional<std::uint32_t> switched_by = {};
  std::optional<std::uint32_t> leads_back_to = {};
  // Work may come after it that is not only for hosts that came through everything so far.
  bool others_follow = false;
};

struct PlanFlow {
  std::vector<StageFlow> stages;  // as those of the plan
  // Stages of the main list may run in another order than they stand there, or twice.
  bool may_come_back = false;
  std::map<std::string_view, std::uint32_t, std::less<>> by_name;  // texts of the plan
};

// Takes time in proportion to the stages and their links.
PlanFlow FlowOf(const RunSpec& plan);

// Whether a stage makes tasks, holds stages or starts a job for hosts, and so is skipped when there
// is no host for it.
bool NeedsHosts(const StageSpec& stage);

// For each stage: which stages of its list need it, by `needs` or as the one before.
std::vector<std::vector<std::uint32_t>> NeededBy(const RunSpec& plan);

}  // namespace muster
