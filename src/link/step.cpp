#include "link/step.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace muster::link {
namespace {

constexpr std::array<std::pair<MomentKind, std::string_view>, 9> kNames{{
    {MomentKind::kWelcomed, "welcomed"},
    {MomentKind::kObeyed, "obeyed"},
    {MomentKind::kKnown, "known"},
    {MomentKind::kLate, "late"},
    {MomentKind::kStale, "stale"},
    {MomentKind::kRefused, "refused"},
    {MomentKind::kStarted, "started"},
    {MomentKind::kEnded, "ended"},
    {MomentKind::kFound, "found"},
}};

}  // namespace

std::string_view Name(MomentKind kind) noexcept {
  for (const auto& [known, name] : kNames)
    if (known == kind) return name;
  return "";
}

std::optional<MomentKind> ParseMomentKind(std::string_view name) noexcept {
  for (const auto& [kind, known] : kNames)
    if (known == name) return kind;
  return std::nullopt;
}

// Names of hosts and stores need no escapes in JSON: the first are letters, digits, dots and
// dashes, the second are hex.
std::string JournalLine(const Teller& teller, const Moment& moment) {
  std::string line = fmt::format(R"({{"what":"{}","host":"{}","store":"{}","wall":{})",
                                 Name(moment.kind), teller.host, teller.store, teller.wall.ms);
  const auto server_now = moment.server_now ? moment.server_now : teller.server_now;
  if (server_now) line += fmt::format(R"(,"server_time":{})", *server_now);
  line += fmt::format(R"(,"term":{},"session":{})", moment.term.value, moment.session);
  if (moment.task.run)
    line += fmt::format(R"(,"run":{},"visit":{},"ordinal":{},"host_id":{},"attempt":{})",
                        moment.task.run.value, moment.task.visit.value, moment.task.ordinal,
                        moment.task.host.value, moment.task.attempt.value);
  if (moment.start_by != 0) line += fmt::format(R"(,"start_by":{})", moment.start_by);
  if (moment.end != nullptr)
    line += fmt::format(R"(,"state":"{}","exit_code":{},"signal":{})", Name(moment.end->state),
                        moment.end->exit_code, moment.end->signal);
  return line + "}\n";
}

}  // namespace muster::link
