#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/instant.hpp"
#include "base/result.hpp"
#include "domain/stage.hpp"

// What an answer makes of a condition. It holds at once or not; it fires when it has held for the
// action's time. Between two firings of a trigger all that is remembered is a ConditionMemory, in
// the trigger's data; between two checks nobody looks, so what holds at both counts as having held.
namespace muster {

enum class ConditionState : std::uint8_t { kOk = 0, kPending = 1, kFiring = 2 };
std::string_view Name(ConditionState state) noexcept;  // "ok", "pending", "firing"

struct ConditionMemory {
  ConditionState state = ConditionState::kOk;
  WallTime since;  // when it began to hold; zero with kOk

  friend bool operator==(const ConditionMemory&, const ConditionMemory&) = default;
};

struct ConditionVerdict {
  std::string value;  // as the answer had it; "" when it lacked it
  ConditionState state = ConditionState::kOk;
  bool changed = false;  // it fires now and did not before, or the other way round
  WallTime since;        // when it began to hold; with kOk only where `changed`: when it had

  friend bool operator==(const ConditionVerdict&, const ConditionVerdict&) = default;
};

// A number as answers write it: 93, -0.5, 1e3, +Inf, true (1) and false (0), blanks around it.
// Nothing for anything else, NaN and what no double holds included.
std::optional<double> ParseReading(std::string_view text);

bool Compare(Comparison comparison, double value, double bound) noexcept;

// Nothing in `value`, blanks and "NaN" are a missing one. kInvalid: it is no number, or it is
// missing and that is an error. A clock that was set back makes the time of holding begin anew.
Result<ConditionVerdict> JudgeCondition(const ConditionAction& action, double bound,
                                        const std::optional<std::string>& value,
                                        const ConditionMemory& before, WallTime now);

// What the next firing begins with. A change counts only when somebody has acted on it, which a run
// that did not succeed may not have: it is found again, with the same `since`.
ConditionMemory MemoryAfter(const ConditionMemory& before, const ConditionVerdict& verdict,
                            bool acted);

// The memory of a stage among a trigger's data: `condition.STAGE.state` and `.since`, which are not
// there while it is ok. What cannot be read is as if it were not there.
inline constexpr std::string_view kConditionData = "condition.";
using CarriedData = std::map<std::string, std::string>;
ConditionMemory ReadMemory(const CarriedData& data, std::string_view stage);
void WriteMemory(CarriedData& data, std::string_view stage, const ConditionMemory& memory);

}  // namespace muster
