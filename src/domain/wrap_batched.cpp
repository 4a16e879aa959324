#include "domain/wrap_batched.hpp"

#include <algorithm>
#include <utility>

namespace muster {
namespace {

bool HasBetween(const RunSpec& spec, std::uint32_t index) {
  const StageSpec& stage = spec.stages[index];
  return stage.between_wait > Duration::zero() || stage.between_approve ||
         std::ranges::any_of(spec.stages, [&](const StageSpec& other) {
           return other.section == Section::kBetween && other.parent == index;
         });
}

bool NeedsWrapping(const RunSpec& spec, std::uint32_t index) {
  const StageSpec& stage = spec.stages[index];
  if (stage.batches.Empty() || std::holds_alternative<SequenceAction>(stage.action)) return false;
  return std::holds_alternative<JobAction>(stage.action) || HasBetween(spec, index);
}

}  // namespace

void WrapBatched(RunSpec& spec) {
  const auto count = static_cast<std::uint32_t>(spec.stages.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!NeedsWrapping(spec, i)) continue;
    StageSpec& outer = spec.stages[i];
    StageSpec inner;
    inner.name = outer.name;
    inner.section = outer.section;
    inner.parent = i;
    inner.action = std::exchange(outer.action, SequenceAction{});
    inner.retries = std::exchange(outer.retries, {});
    inner.repeat = std::exchange(outer.repeat, Repeat::kNever);
    inner.concurrency = std::exchange(outer.concurrency, 0);
    inner.spread = std::exchange(outer.spread, {});
    inner.wait_offline = outer.wait_offline;
    inner.limits = std::exchange(outer.limits, {});
    spec.stages.push_back(std::move(inner));
  }
}

}  // namespace muster
