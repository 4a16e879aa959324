#include "domain/run_row.hpp"

#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace muster {
namespace {

constexpr std::string_view kCutMark = "…";

}  // namespace

std::vector<Param> RowParamsOf(const std::vector<Param>& params) {
  std::vector<Param> row;
  std::size_t bytes = 0;
  for (const auto& param : params) {
    Param kept = param;
    if (kept.value.size() > kMostRowParam) {
      CutText(kept.value, kMostRowParam - kCutMark.size());
      kept.value += kCutMark;
    }
    bytes += kept.name.size() + kept.value.size();
    if (bytes > kMostRowParams) break;
    row.push_back(std::move(kept));
  }
  return row;
}

bool IsCut(const Param& row) {
  // CutText takes away up to three more bytes, so as to leave no part of a character.
  return row.value.size() + 3 >= kMostRowParam && row.value.ends_with(kCutMark);
}

RunSpec RowSpecOf(const RunSpec& spec) {
  RunSpec row;
  row.title = spec.title;
  row.targets = spec.targets;
  row.job = spec.job;
  row.version = spec.version;
  row.priority = spec.priority;
  row.params = RowParamsOf(spec.params);
  return row;
}

RunSpec JoinPlan(const RunSpec& row, RunSpec plan) {
  plan.title = row.title;
  plan.targets = row.targets;
  plan.job = row.job;
  plan.version = row.version;
  plan.priority = row.priority;
  return plan;
}

}  // namespace muster
