#pragma once

#include <functional>
#include <string>

#include "ports/clock.hpp"
#include "server/api/call.hpp"
#include "server/auth/failure_watch.hpp"

namespace muster::server::api {

// Answers callers who are not let in. Who fails again and again gets 429 with Retry-After instead,
// a second late, so that guessing is slow on every connection; whoever has what it takes is let in
// at once all the while. Safe from any thread.
class Refusals {
 public:
  // Does `work` after a while.
  using Later = std::function<void(Duration, std::function<void()> work)>;

  Refusals(FailureWatch& watch, const Clock& clock, Later later);

  void NoToken(const CallPtr& call, const std::string& why);  // 401
  void NoJoin(const CallPtr& call, const Error& why);         // as the error says
  std::uint64_t Total(Failure kind) const { return watch_.Total(kind); }

 private:
  // True when the call was told to wait.
  bool Slow(const CallPtr& call, Failure kind);

  FailureWatch& watch_;
  const Clock& clock_;
  Later later_;
};

}  // namespace muster::server::api
