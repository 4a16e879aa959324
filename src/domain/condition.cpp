#include "domain/condition.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/text.hpp"

namespace muster {
namespace {

constexpr std::array<std::string_view, 3> kStates = {"ok", "pending", "firing"};
constexpr std::size_t kLongestNumber = 64;

bool IsNaN(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower == "nan" || lower == "-nan" || lower == "+nan";
}

std::string KeyOf(std::string_view stage, std::string_view part) {
  return fmt::format("{}{}.{}", kConditionData, stage, part);
}

// A value in messages: answers come from anywhere.
std::string Shown(std::string_view value) {
  const bool plain = std::ranges::all_of(value, [](char c) { return c >= ' ' && c <= '~'; });
  if (!plain || value.size() > kLongestNumber) return fmt::format("of {} bytes", value.size());
  return fmt::format("'{}'", value);
}

// Whether it holds right now.
Result<bool> HoldsNow(const ConditionAction& action, double bound, std::string_view value) {
  if (value.empty() || (value.size() < kLongestNumber && IsNaN(value))) {
    if (action.missing == MissingValue::kError)
      return Fail(ErrorCode::kInvalid,
                  "the answer has no value{}; `missing` says what that counts as",
                  action.value.empty() ? "" : fmt::format(" at '{}'", action.value));
    return action.missing == MissingValue::kFiring;
  }
  const auto number = ParseReading(value);
  if (!number) return Fail(ErrorCode::kInvalid, "the answer's value {} is no number", Shown(value));
  return Compare(action.comparison, *number, bound);
}

}  // namespace

std::string_view Name(ConditionState state) noexcept {
  return kStates[static_cast<std::size_t>(state)];
}

std::optional<double> ParseReading(std::string_view text) {
  text = Trim(text);
  if (text == "true") return 1.0;
  if (text == "false") return 0.0;
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  if (text.empty() || text.size() > kLongestNumber) return std::nullopt;
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size() || std::isnan(number))
    return std::nullopt;
  return number;
}

bool Compare(Comparison comparison, double value, double bound) noexcept {
  switch (comparison) {
    case Comparison::kAbove:
      return value > bound;
    case Comparison::kBelow:
      return value < bound;
    case Comparison::kAtLeast:
      return value >= bound;
    case Comparison::kAtMost:
      return value <= bound;
    case Comparison::kEquals:
      return value == bound;
    case Comparison::kDiffers:
      return value != bound;
  }
  return false;
}

Result<ConditionVerdict> JudgeCondition(const ConditionAction& action, double bound,
                                        const std::optional<std::string>& value,
                                        const ConditionMemory& before, WallTime now) {
  const std::string_view text = value ? Trim(*value) : std::string_view();
  const auto holds = HoldsNow(action, bound, text);
  if (!holds) return Fail(holds.error());
  const bool fired = before.state == ConditionState::kFiring;
  ConditionVerdict verdict{.value = std::string(text)};
  if (!*holds) {
    verdict.changed = fired;
    if (fired) verdict.since = before.since;
    return verdict;
  }
  const bool began = before.state != ConditionState::kOk && before.since <= now;
  verdict.since = began ? before.since : now;
  const bool fires = fired || now - verdict.since >= action.hold;
  verdict.state = fires ? ConditionState::kFiring : ConditionState::kPending;
  verdict.changed = fires && !fired;
  return verdict;
}

ConditionMemory MemoryAfter(const ConditionMemory& before, const ConditionVerdict& verdict,
                            bool acted) {
  if (!verdict.changed || acted) {
    if (verdict.state == ConditionState::kOk) return {};
    return {.state = verdict.state, .since = verdict.since};
  }
  if (verdict.state == ConditionState::kOk) return before;
  return {.state = ConditionState::kPending, .since = verdict.since};
}

ConditionMemory ReadMemory(const CarriedData& data, std::string_view stage) {
  const auto state = data.find(KeyOf(stage, "state"));
  const auto since = data.find(KeyOf(stage, "since"));
  if (state == data.end() || since == data.end()) return {};
  const WallTime at = ParseTime(since->second);
  if (!at) return {};
  for (const auto known : {ConditionState::kPending, ConditionState::kFiring})
    if (state->second == Name(known)) return {.state = known, .since = at};
  return {};
}

void WriteMemory(CarriedData& data, std::string_view stage, const ConditionMemory& memory) {
  if (memory.state == ConditionState::kOk) {
    data.erase(KeyOf(stage, "state"));
    data.erase(KeyOf(stage, "since"));
    return;
  }
  data[KeyOf(stage, "state")] = Name(memory.state);
  data[KeyOf(stage, "since")] = FormatTime(memory.since);
}

}  // namespace muster
