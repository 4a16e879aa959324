#include "engine/keeping/gates.hpp"

#include "base/text.hpp"

namespace muster::engine {

void Decide(Turn& turn, const SetGate& command) {
  if (command.reason.empty())
    turn.state.keeping.gates.erase(command.gate);
  else
    turn.state.keeping.gates[command.gate] = command.reason;
}

std::optional<GateClosed> ClosedOutside(const State& state) {
  if (state.keeping.gates.empty()) return std::nullopt;
  const auto& [gate, reason] = *state.keeping.gates.begin();
  return GateClosed{gate, reason};
}

std::optional<GateClosed> ClosedGate(const State& state) {
  if (auto closed = ClosedOutside(state)) return closed;
  if (state.runs.plan_bytes <= state.options.most_plan_bytes) return std::nullopt;
  return GateClosed{
      "plans",
      fmt::format("the plans of the {} open runs take {} of memory together, and may take {}; stop "
                  "runs that you do not need (see 'muster runs'), or wait until some end",
                  state.runs.open.size(), FormatSize(state.runs.plan_bytes),
                  FormatSize(state.options.most_plan_bytes))};
}

}  // namespace muster::engine
