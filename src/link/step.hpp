#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/instant.hpp"
#include "link/messages.hpp"

namespace muster::link {

enum class MomentKind : std::uint8_t {
  kWelcomed,  // a session began
  kObeyed,    // an order was taken; its process is started next
  kKnown,     // an order came again, and its task is held or was
  kLate,      // an order came after its start_by: not started
  kStale,     // an order of another session or term: not started
  kRefused,   // an order needs what this node lacks: not started
  kStarted,   // a process was started
  kEnded,     // a task is over
  kFound,     // a task was found on the disk after a restart of the node
};
std::string_view Name(MomentKind kind) noexcept;
std::optional<MomentKind> ParseMomentKind(std::string_view name) noexcept;

// Something a node did, or refused to do, as its own state machine saw it.
struct Moment {
  MomentKind kind = MomentKind::kWelcomed;
  TaskKey task = {};                          // not with kWelcomed
  Term term = {};                             // the order's, or else the highest that was obeyed
  std::uint64_t session = 0;                  // the order's, or else the node's
  ServerTime start_by = 0;                    // of an order
  std::optional<ServerTime> server_now = {};  // as the order was judged by
  const TaskEnd* end = nullptr;               // with kEnded, and with kFound of a task that is over
};

// Who tells, and when by its own clocks.
struct Teller {
  std::string host;
  std::string store;
  WallTime wall;
  std::optional<ServerTime> server_now;  // its estimate of the server's clock
};

// A moment as one line of JSON, with its line end: what a node's history file holds. Reading it is
// the business of checks/journal.hpp.
std::string JournalLine(const Teller& teller, const Moment& moment);

}  // namespace muster::link
