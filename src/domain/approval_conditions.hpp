#pragma once

#include <map>
#include <vector>

#include "domain/approval_flow.hpp"
#include "domain/approvals.hpp"

// What an approval depends on, stage by stage of the way that leads to it.
namespace muster {

// Where a stage is looked at from: the plan a run would pin, or a job below one of its stages.
struct ApprovalScope {
  std::uint32_t top = 0;       // the stage of the pinned plan
  bool child = false;          // the stage stands in a job that `top` starts
  bool others_follow = false;  // as StageFlow::others_follow, of a stage that started the job
  AskedIf params = {};         // what the values of the parameters depend on

  friend auto operator<=>(const ApprovalScope&, const ApprovalScope&) = default;
};

// What a text with expressions looks at.
struct Mentions {
  bool params = false;
  bool targets = false;
  bool pass = false;
  bool everything = false;                  // all stages before, or what cannot be told
  std::optional<std::uint32_t> stage = {};  // the last one of the top level of its plan
};

// A plan, with what is computed once for all its stages.
struct PlanIndex {
  const RunSpec* plan = nullptr;
  PlanFlow flow;
  std::vector<bool> holds;           // whether a stage holds or starts an approval, or is one
  std::vector<Mentions> conditions;  // `when` of those that hold one
  std::vector<Mentions> parameters;  // of the jobs that those start
};

// The plan and the jobs below it, each looked at once. Keeps pointers to the plans.
class ApprovalIndex {
 public:
  const PlanIndex& Of(const RunSpec& plan);

 private:
  std::map<const RunSpec*, PlanIndex> plans_;
  std::map<const RunSpec*, bool> asks_;
};

// `a` or `b` decides.
AskedIf Either(const AskedIf& a, const AskedIf& b);

// Whether a stage that holds an approval is entered at all: its `when`, the hosts it is for, and
// what jumps over it.
AskedIf EnteredIf(const PlanIndex& plan, std::uint32_t stage, const ApprovalScope& scope);

// What the parameters of a job depend on that a stage starts.
AskedIf ParamsOf(const PlanIndex& plan, std::uint32_t stage, const ApprovalScope& scope);

}  // namespace muster
