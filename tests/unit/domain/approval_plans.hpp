#pragma once

#include <map>
#include <string>
#include <vector>

#include "domain/approvals.hpp"

// Small plans with approvals.
namespace muster {

inline StageSpec Work(std::string name) {
  StageSpec stage;
  stage.name = std::move(name);
  return stage;
}

inline StageSpec Ask(std::string name) {
  StageSpec stage = Work(std::move(name));
  stage.action = ApproveAction{.message = "?", .by = {}, .not_starter = true};
  return stage;
}

inline std::vector<std::string> Names(const PlanApprovals& approvals) {
  std::vector<std::string> names;
  for (const auto& approval : approvals) names.push_back(approval.name);
  return names;
}
using List = std::vector<std::string>;

inline StageSpec When(StageSpec stage, std::string when) {
  stage.when = std::move(when);
  return stage;
}

inline StageSpec Start(std::string name, std::map<std::string, std::string> params) {
  StageSpec stage = Work(std::move(name));
  stage.action = JobAction{.job = "c", .params = std::move(params)};
  return stage;
}

inline RunSpec Plan(std::vector<StageSpec> stages) {
  RunSpec plan;
  plan.stages = std::move(stages);
  return plan;
}

inline StageSpec Branch(StageSpec stage) {
  stage.section = Section::kBranch;
  return stage;
}

inline StageSpec Needs(StageSpec stage, std::vector<std::uint32_t> needs) {
  stage.needs = std::move(needs);
  return stage;
}

using Stages = std::vector<std::uint32_t>;

}  // namespace muster
