#pragma once

#include <optional>
#include <string>

#include "domain/host.hpp"
#include "link/messages.hpp"

namespace muster::link {

// The server's end of the handshake, as pure functions over what it keeps of a host.

enum class HelloVerdict {
  kAccept,
  kStale,     // an older connection of the same node: close it, nothing else follows
  kCopy,      // a second agent with this key: the host gets no work until it joins anew
  kUnwanted,  // revoked, or already known to be a copy
};

struct HelloJudgement {
  HelloVerdict verdict = HelloVerdict::kAccept;
  std::string message;  // for the host's operator, unless kAccept
};

// Sessions grow with each connection and are durable on the node before use. So an equal number, or
// a lower one on a connection made later (`newer_link`) than the one with the highest, can only
// come from a second holder of the same data folder, and another `store` only from a second folder
// under the same key.
HelloJudgement JudgeHello(const Host& host, const Hello& hello, bool newer_link);

// Why a host that is not active gets no link.
std::string UnwantedMessage(const Host& host);

// What becomes of an attempt that the server holds as sent and that Hello does not list. Only the
// same folder on the same boot can say "I never had it" with authority.
enum class UnlistedVerdict { kSendAgain, kLost };
UnlistedVerdict JudgeUnlisted(const std::string& sent_store, const std::string& sent_boot,
                              const Hello& hello);

}  // namespace muster::link
