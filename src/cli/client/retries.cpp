#include "cli/client/retries.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "cli/terminal/output.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

// How long it is tried again after this.
Duration BoundOf(ErrorCode code, Duration unanswered, Duration unheard) {
  if (code == ErrorCode::kTimeout) return unanswered;
  return code == ErrorCode::kUnavailable ? unheard : Duration(0);
}

Result<json::value> TryAgain(const Context& context, Duration unanswered, Duration unheard,
                             const ApiCall& call) {
  using Clock = std::chrono::steady_clock;
  const auto begun = Clock::now();
  auto pause = std::chrono::milliseconds(200);
  bool said = false;
  // The next call goes to another server, which may answer however long this one was waited for.
  bool has_another = context.server.find(',') != std::string::npos;
  while (true) {
    auto answer = call();
    if (answer) return answer;
    const auto bound = BoundOf(answer.error().code, unanswered, unheard);
    const bool moves_on = std::exchange(has_another, false) && bound > Duration(0);
    if (!moves_on && Clock::now() + pause > begun + bound) return answer;
    if (!said)
      context.Say(fmt::format("{} · trying again for {} s", answer.error().message,
                              std::chrono::ceil<std::chrono::seconds>(bound).count()));
    said = true;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(3'000));
  }
}

}  // namespace

// Nobody there at all is told sooner than a server that stopped answering.
Result<json::value> Persist(const Context& context, Duration patience, const ApiCall& call) {
  return TryAgain(context, patience, patience / 3, call);
}

Result<json::value> Act(const Context& context, const ApiCall& call) {
  return TryAgain(context, Duration(0), kPatience / 3, call);
}

}  // namespace muster::cli
