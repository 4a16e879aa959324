#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "documents/check.hpp"
#include "documents/fields.hpp"
#include "documents/kinds/job.hpp"

namespace muster::documents {

// A job on its way from YAML. Stages stand in JobDocument::spec in this order: those of `stages`,
// `branches`, `finally`; each is followed by its inner stages and then by its check.
struct JobDraft {
  JobDocument job;
  std::vector<const Node*> nodes = {};  // of each stage, its map
};

// What a stage does: the one of `actions` (a bit of Actions) that its map has. `stage` is its
// index; files it refers to are added to the job.
Action BuildAction(const Context& context, const Node& map, std::uint32_t action,
                   std::uint32_t stage, JobDocument& job);
ApproveAction BuildApprove(const Context& context, const Node& value);

// Fills in `needs` and `next` by name and looks at what they come to: stages that exist, no circle,
// nothing backwards where stages need each other.
void BuildFlow(const Context& context, JobDraft& draft);

// Looks at the names in templates: what they stand for must be known where they are evaluated.
void CheckNames(const Context& context, const std::vector<TemplateUse>& uses,
                const JobDraft& draft);

// The parameters of a job.
std::vector<ParamSpec> BuildParams(const Context& context, const Node* params);

}  // namespace muster::documents
