#include "server/api/refusals.hpp"

#include <utility>

namespace muster::server::api {
namespace {

constexpr std::chrono::seconds kHeldBack(1);

}  // namespace

Refusals::Refusals(FailureWatch& watch, const Clock& clock, Later later)
    : watch_(watch), clock_(clock), later_(std::move(later)) {}

bool Refusals::Slow(const CallPtr& call, Failure kind) {
  const auto wait = watch_.Failed(net::SourceOf(call->request().remote), kind, clock_.Read().mono);
  if (!wait) return false;
  later_(kHeldBack, [call, wait = *wait] {
    call->Fail(429, "denied",
               fmt::format("too many failed attempts from this address; wait {} s", wait.count()),
               {{"Retry-After", std::to_string(wait.count())}});
  });
  return true;
}

void Refusals::NoToken(const CallPtr& call, const std::string& why) {
  if (Slow(call, Failure::kToken)) return;
  call->Fail(401, "unauthenticated", why, {{"WWW-Authenticate", "Bearer"}});
}

void Refusals::NoJoin(const CallPtr& call, const Error& why) {
  // What is not a refusal (the server is busy, the name is taken) is no attempt to guess.
  const bool guess = why.code == ErrorCode::kDenied || why.code == ErrorCode::kInvalid;
  if (guess && Slow(call, Failure::kJoin)) return;
  call->Fail(why);
}

}  // namespace muster::server::api
