#include "engine/limiter/freezes.hpp"

#include "domain/starts_job.hpp"

namespace muster::engine {
namespace {

constexpr std::size_t kMostFreezes = 1000;

// What is over holds nothing back; its row goes when somebody next touches freezes.
void ForgetOver(Turn& turn) {
  std::erase_if(turn.state.limiter.freezes, [&turn](const auto& item) {
    if (!item.second.OverAt(turn.now.wall)) return false;
    turn.Put(DropFreeze{item.first});
    return true;
  });
}

bool Concerns(const Freeze& freeze, const AboutToStart& run) {
  switch (freeze.scope) {
    case FreezeScope::kTriggers:
      if (run.origin != Origin::kTrigger) return false;
      break;
    case FreezeScope::kEvents:
      if (run.origin != Origin::kEvent) return false;
      break;
    case FreezeScope::kAll:
      break;
  }
  return freeze.job.empty() || StartsJob(run.plan, freeze.job);
}

GateClosed Closed(const Freeze& freeze, const AboutToStart& run, std::uint32_t hosts) {
  std::string reason = fmt::format("frozen by {}", Describe(freeze));
  if (hosts > 0) reason += fmt::format("; it means {} of the run's hosts", hosts);
  if (run.origin == Origin::kPerson && run.advises)
    reason +=
        fmt::format("; to start it anyway: --during-freeze, to end the freeze: muster thaw {}",
                    FormatFreezeId(freeze.id));
  return {.gate = "frozen", .reason = std::move(reason)};
}

}  // namespace

void Decide(Turn& turn, const FreezeRuns& command) {
  ForgetOver(turn);
  if (turn.state.limiter.freezes.size() >= kMostFreezes)
    return turn.Answer(command,
                       Fail(ErrorCode::kConflict, "there are {} freezes already; thaw some first",
                            turn.state.limiter.freezes.size()));
  Freeze freeze = command.freeze;
  freeze.by = command.caller.name;
  freeze.at = turn.now.wall;
  freeze.id = turn.state.audit.number + 1;
  AuditEntry entry;
  entry.act = "freeze";
  entry.object = FormatFreezeId(freeze.id);
  entry.detail = Describe(freeze);
  entry.reason = freeze.reason;
  turn.Audit(command.caller, std::move(entry));
  turn.Put(PutFreeze{freeze});
  turn.state.limiter.freezes[freeze.id] = freeze;
  turn.Answer(command, FreezeAnswer{{std::move(freeze)}});
}

void Decide(Turn& turn, const ThawRuns& command) {
  ForgetOver(turn);
  FreezeAnswer answer;
  for (const auto& [id, freeze] : turn.state.limiter.freezes)
    if (command.id == 0 || command.id == id) answer.freezes.push_back(freeze);
  if (command.id != 0 && answer.freezes.empty())
    return turn.Answer(command, Fail(ErrorCode::kNotFound, "there is no freeze {}; it may be over",
                                     FormatFreezeId(command.id)));
  for (const auto& freeze : answer.freezes) {
    AuditEntry entry;
    entry.act = "thaw";
    entry.object = FormatFreezeId(freeze.id);
    entry.detail = Describe(freeze);
    entry.reason = command.reason;
    turn.Audit(command.caller, std::move(entry));
    turn.Put(DropFreeze{freeze.id});
    turn.state.limiter.freezes.erase(freeze.id);
  }
  turn.Answer(command, std::move(answer));
}

std::optional<GateClosed> FrozenBy(const Turn& turn, const AboutToStart& run) {
  if (run.origin == Origin::kPerson && run.during_freeze) return std::nullopt;
  for (const auto& [id, freeze] : turn.state.limiter.freezes) {
    if (freeze.OverAt(turn.now.wall) || !Concerns(freeze, run)) continue;
    if (freeze.targets.empty()) return Closed(freeze, run, 0);
    // Nobody has looked which hosts it means: it came between the look and now.
    const auto looked = run.frozen.find(id);
    if (looked == run.frozen.end()) return Closed(freeze, run, 0);
    if (looked->second > 0) return Closed(freeze, run, looked->second);
  }
  return std::nullopt;
}

std::string_view DespiteFreeze(const Turn& turn, const AboutToStart& run) {
  if (!run.during_freeze) return "";
  AboutToStart unasked = run;
  unasked.during_freeze = false;
  return FrozenBy(turn, unasked) ? "; during a freeze" : "";
}

}  // namespace muster::engine
