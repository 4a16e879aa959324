#pragma once

#include <optional>
#include <string>

#include "base/instant.hpp"
#include "domain/host.hpp"
#include "link/messages.hpp"

namespace muster::link {

// The server's end of the handshake, as pure functions over what it keeps of a host.

enum class HelloVerdict {
  kAccept,
  kBehind,    // a smaller session: late, or of an older folder; asked to say Hello again
  kStale,     // not a Hello: close it, nothing else follows
  kCopy,      // a second agent with this key, or an older folder: no work until one is left
  kUnwanted,  // revoked, or already known to be a copy
};

struct HelloJudgement {
  HelloVerdict verdict = HelloVerdict::kAccept;
  std::string message;  // for the host's operator, unless kAccept or kBehind
};

// A host that is shown as a copy is taken back when for so long only one agent said Hello. Far more
// than the longest pause of an agent between two of its attempts, a minute and a half.
inline constexpr Duration kAloneFor = std::chrono::minutes(5);

// Sessions grow with each Hello and are durable on the node before use, so an equal number can only
// come from a second holder of the same data folder, and another `store` only from a second folder
// under the same key. A lower number alone says nothing: however late a Hello is, and whatever way
// it came, it may be of an older connection of the same node. So the node at its other end, if any
// is there, is told the number that was accepted last, and says Hello again. The node that had said
// that number itself counts higher by now; one that repeats it (Hello::seen) and counts lower is
// another one. `asked`: on this link the host was asked already, which is what an agent that knows
// nothing of `seen` is judged by.
HelloJudgement JudgeHello(const Host& host, const Hello& hello, bool asked);

// Why a host that is not active gets no link, and what to do about it.
std::string UnwantedMessage(const Host& host);

// What becomes of an attempt that the server holds as sent and that Hello does not list. Only the
// same folder on the same boot can say "I never had it" with authority.
enum class UnlistedVerdict { kSendAgain, kLost };
UnlistedVerdict JudgeUnlisted(const std::string& sent_store, const std::string& sent_boot,
                              const Hello& hello);

}  // namespace muster::link
