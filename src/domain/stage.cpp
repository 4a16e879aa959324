#include "domain/stage.hpp"

#include <array>

namespace muster {
namespace {

constexpr std::array<std::string_view, 4> kChoices = {"ok", "failed", "touched", "all"};

bool SameAction(const Action& a, const Action& b) {
  const auto* left = std::get_if<HostAction>(&a);
  const auto* right = std::get_if<HostAction>(&b);
  if (left == nullptr || right == nullptr) return a == b;
  return **left == **right;
}

}  // namespace

bool operator==(const StageSpec& a, const StageSpec& b) {
  return a.name == b.name && a.section == b.section && a.parent == b.parent &&
         SameAction(a.action, b.action) && a.hosts == b.hosts && a.when == b.when &&
         a.needs == b.needs && a.next == b.next && a.max_visits == b.max_visits &&
         a.recovers == b.recovers && a.retries == b.retries && a.repeat == b.repeat &&
         a.concurrency == b.concurrency && a.batches == b.batches &&
         a.between_wait == b.between_wait && a.between_approve == b.between_approve &&
         a.max_failures == b.max_failures && a.max_unreachable == b.max_unreachable &&
         a.on_limit == b.on_limit && a.spread == b.spread && a.wait_offline == b.wait_offline &&
         a.limits == b.limits;
}

const Command* CommandOf(const StageSpec& stage) noexcept {
  const auto* command = std::get_if<HostAction>(&stage.action);
  return command == nullptr ? nullptr : command->get();
}

HostAction SharedCommandOf(const StageSpec& stage) noexcept {
  const auto* command = std::get_if<HostAction>(&stage.action);
  return command == nullptr ? nullptr : *command;
}

std::string_view ActionName(const StageSpec& stage) noexcept {
  if (const Command* command = CommandOf(stage)) {
    if (command->push) return "push";
    if (command->pull) return "pull";
    return command->reboot ? "reboot" : "script";
  }
  constexpr std::array<std::string_view, 8> kNames = {"script", "stages", "approve", "wait",
                                                      "http",   "notify", "job",     "condition"};
  return kNames[stage.action.index()];
}

std::string_view Name(Comparison comparison) noexcept {
  constexpr std::array<std::string_view, 6> kNames = {"above",   "below",  "at_least",
                                                      "at_most", "equals", "differs"};
  return kNames[static_cast<std::size_t>(comparison)];
}

std::string_view Name(HostChoice choice) noexcept {
  return kChoices[static_cast<std::size_t>(choice)];
}

std::optional<HostChoice> ParseHostChoice(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kChoices.size(); ++i)
    if (kChoices[i] == name) return static_cast<HostChoice>(i);
  return std::nullopt;
}

}  // namespace muster
