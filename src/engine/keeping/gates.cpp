#include "engine/keeping/gates.hpp"

namespace muster::engine {

void Decide(Turn& turn, const SetGate& command) {
  if (command.reason.empty())
    turn.state.gates.erase(command.gate);
  else
    turn.state.gates[command.gate] = command.reason;
}

std::optional<GateClosed> ClosedGate(const State& state) {
  if (state.gates.empty()) return std::nullopt;
  const auto& [gate, reason] = *state.gates.begin();
  return GateClosed{gate, reason};
}

}  // namespace muster::engine
