#include "domain/wrap_batched.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
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

// The stage that WrapBatched took this one out of.
std::optional<std::uint32_t> WrapperOf(const RunSpec& spec, std::uint32_t index) {
  const auto parent = spec.stages[index].parent;
  const bool inside =
      parent && *parent < index && spec.stages[*parent].name == spec.stages[index].name;
  return inside ? parent : std::nullopt;
}

// `wrapper_of` says of a place in the plan which other, before it, has the same stage.
template <typename WrapperAt>
std::vector<WrittenStage> AsWritten(std::size_t count, const WrapperAt& wrapper_of) {
  std::vector<WrittenStage> written;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::optional<std::uint32_t> wrapper = wrapper_of(i);
    const auto known =
        wrapper ? std::ranges::find(written, *wrapper, &WrittenStage::stage) : written.end();
    if (known == written.end())
      written.push_back({i, i});
    else
      known->work = i;
  }
  return written;
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

std::vector<WrittenStage> StagesAsWritten(const RunSpec& spec) {
  return AsWritten(spec.stages.size(), [&](std::uint32_t i) { return WrapperOf(spec, i); });
}

std::vector<WrittenStage> StagesAsWritten(const Run& run) {
  if (run.spec.stages.size() == run.stages.size()) return StagesAsWritten(run.spec);
  std::map<std::string_view, std::uint32_t> first;
  return AsWritten(run.stages.size(), [&](std::uint32_t i) -> std::optional<std::uint32_t> {
    const auto [place, is_new] = first.try_emplace(run.stages[i].name, i);
    return is_new ? std::nullopt : std::optional(place->second);
  });
}

std::string NamesOfStages(const RunSpec& spec) {
  std::string names;
  for (const auto& written : StagesAsWritten(spec))
    names += (names.empty() ? "" : ", ") + spec.stages[written.stage].name;
  return names;
}

}  // namespace muster
