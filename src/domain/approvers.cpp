#include "domain/approvers.hpp"

#include <algorithm>

#include <fmt/ranges.h>

namespace muster {
namespace {

void AddStarters(std::vector<std::string>& names, const Run& run) {
  const auto add = [&](const std::string& name) {
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  add(run.by);
  for (const auto& name : run.starters) add(name);
}

}  // namespace

const ApproveAction* WantedAnswer(const StageSpec& stage) {
  if (const auto* approve = std::get_if<ApproveAction>(&stage.action)) return approve;
  return stage.between_approve ? &*stage.between_approve : nullptr;
}

std::vector<std::string> StartersOf(const Run& run, std::span<const Run* const> above) {
  std::vector<std::string> names;
  AddStarters(names, run);
  for (const Run* parent : above) AddStarters(names, *parent);
  return names;
}

Result<> CheckApprover(const std::vector<std::string>& starters, const ApproveAction& wanted,
                       const std::string& name, std::optional<Role> role) {
  const auto starter = std::ranges::find(starters, name);
  if (wanted.not_starter && starter != starters.end())
    return Fail(ErrorCode::kDenied, "'{}' {}; another person must answer it", name,
                starter == starters.begin() ? "started this run"
                                            : "changed this run, or wrote what it does");
  if (wanted.by.empty()) return {};
  for (const auto& who : wanted.by) {
    if (who == name) return {};
    const auto least = ParseRole(who);
    if (least && role && *role >= *least) return {};
  }
  return Fail(ErrorCode::kDenied, "it may be answered by {}, and not by '{}'{}",
              fmt::join(wanted.by, ", "), name,
              role ? fmt::format(", whose role is {}", Name(*role)) : "");
}

std::string ApproversText(const std::vector<std::string>& by,
                          const std::vector<std::string>& without) {
  std::string text = by.empty() ? "an operator" : fmt::format("{}", fmt::join(by, ", "));
  if (!without.empty()) text += fmt::format(", not {}", fmt::join(without, ", "));
  return text;
}

}  // namespace muster
