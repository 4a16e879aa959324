#include "engine/runs/stage_order.hpp"

#include <algorithm>

#include "domain/approvals.hpp"

namespace muster::engine {

bool IsGraph(const RunSpec& spec) {
  return std::ranges::any_of(
      spec.stages, [](const StageSpec& stage) { return InMainList(stage) && stage.needs; });
}

std::vector<std::uint32_t> NeedsOf(const RunSpec& spec, std::uint32_t stage) {
  if (const auto& needs = spec.stages[stage].needs) return *needs;
  for (std::uint32_t before = stage; before-- > 0;)
    if (InMainList(spec.stages[before])) return {before};
  return {};
}

bool WentWell(StageState state) {
  return state == StageState::kSucceeded || state == StageState::kSkipped;
}

std::vector<std::uint32_t> ListOf(const RunSpec& spec, Section section) {
  std::vector<std::uint32_t> list;
  for (std::uint32_t i = 0; i < spec.stages.size(); ++i)
    if (!spec.stages[i].parent && spec.stages[i].section == section) list.push_back(i);
  return list;
}

std::size_t PlaceIn(const std::vector<std::uint32_t>& list, std::uint32_t stage) {
  return static_cast<std::size_t>(std::ranges::find(list, stage) - list.begin());
}

std::vector<std::uint32_t> InnerOf(const RunSpec& spec, std::uint32_t stage) {
  std::vector<std::uint32_t> inner;
  for (std::uint32_t i = 0; i < spec.stages.size(); ++i)
    if (spec.stages[i].parent == stage && spec.stages[i].section != Section::kBetween)
      inner.push_back(i);
  return inner;
}

std::optional<std::uint32_t> CheckOf(const RunSpec& spec, std::uint32_t stage) {
  for (std::uint32_t i = 0; i < spec.stages.size(); ++i)
    if (spec.stages[i].parent == stage && spec.stages[i].section == Section::kBetween) return i;
  return std::nullopt;
}

}  // namespace muster::engine
