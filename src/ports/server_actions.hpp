#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "domain/channel.hpp"
#include "domain/ids.hpp"
#include "domain/stage.hpp"
#include "domain/task.hpp"

namespace muster {

// What is told through a channel.
struct ChannelMessage {
  Channel channel;  // secrets filled in
  RunId run;
  std::string job = {};
  std::string state = {};  // the run's, as the API names it
  std::string message;     // rendered
  std::string url = {};    // where a person sees the run; "" when the server knows none
  // The channel's url came from a secret: no part of it, nor of what answers there, is shown.
  bool secret_url = false;
};

// One server task, ready to go: templates are rendered and secrets filled in.
struct ServerAction {
  // A condition ends with the output `value`, or without it when the answer lacks it; whether it
  // holds is not judged here.
  std::variant<HttpAction, ChannelMessage, ConditionAction> what;
  // Byte strings that never come back: replaced by *** in everything the outcome says.
  std::vector<std::string> masks = {};
};

// How it went.
struct ServerOutcome {
  // kSucceeded; kFailed (no connection, another status, an output missing …); kTimedOut; kKilled
  // (by Cancel); kRefused: the server's settings do not allow it, or it is no request at all, so
  // nothing was sent; kSkipped: the server stopped before it began; kLost: … while it was under
  // way.
  TaskState state = TaskState::kFailed;
  std::string reason = {};   // for people; "" when it succeeded
  std::uint16_t status = 0;  // of HTTP or SMTP; 0 when there was no answer
  std::vector<std::pair<std::string, std::string>> outputs = {};  // by name, a name once
  std::string output = {};  // the answer's body, at most kMostOutput

  static constexpr std::size_t kMostOutput = 64 << 10;
  static constexpr std::size_t kMostAnswer = 1 << 20;  // a larger one is a failure
  friend bool operator==(const ServerOutcome&, const ServerOutcome&) = default;
};

// Does what the server does itself: requests and messages to the outside. Safe from any thread.
//
// Each action that was started ends exactly once, by one call of its `done`, which must not block
// and may come on any thread, also before Start returns. At most kAtOnce are under way; the others
// wait, and their timeouts begin when they do. Servers that do not answer must not hold up what
// others have to tell. So kForMessages places are for messages alone; a run, as well as a channel,
// has only a few places at once; channels, and hosts that requests go to, take turns; and those
// where the last action took some seconds share kForSlow places. Nothing is repeated: an attempt is
// one try.
class ServerActions {
 public:
  using Done = std::function<void(ServerOutcome outcome)>;
  static constexpr std::size_t kAtOnce = 8;
  static constexpr std::size_t kForMessages = 3;
  static constexpr std::size_t kForSlow = kAtOnce / 2;
  static constexpr std::size_t kAtOnceOfRun = 2;  // of its requests, and of its messages
  static constexpr std::size_t kAtOnceOfChannel = 2;

  virtual ~ServerActions() = default;

  // `task` names the attempt, for Cancel and for receivers that want to notice a repeat. It must
  // not be open already.
  virtual void Start(const TaskKey& task, ServerAction action, Done done) = 0;

  // Ends it soon as kKilled (kSkipped when it had not begun). Harmless when it ended or is unknown.
  virtual void Cancel(const TaskKey& task) = 0;

  // Ends everything within a second; all `done`s were called when it returns. Later starts end as
  // kSkipped. Not to be called from a `done`.
  virtual void Stop() = 0;
};

}  // namespace muster
