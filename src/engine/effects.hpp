#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "domain/records.hpp"
#include "engine/answer.hpp"
#include "ports/links.hpp"

namespace muster::engine {

struct Reply {
  RequestId request;
  Result<AnyAnswer> answer;
};

// What changed, for streams and live views. Sent after the commit that made it true.
struct RunNews {
  RunId run;
  RunState state = RunState::kCreated;  // kCreated: it has ended before, only logs_open is news
  TaskCounts counts;
  std::uint32_t logs_open = 0;
  CommitNumber commit;
  bool is_new = false;
  std::shared_ptr<const Run> whole;        // with is_new, when its row changed, and at the end
  std::shared_ptr<const Targets> targets;  // with is_new
  // Of the stages that work on hosts now, on top of what `whole` says of their earlier visits.
  std::vector<std::pair<std::uint32_t, TaskCounts>> stages = {};
};
struct TaskNews {
  TaskKey task;
  TaskState state = TaskState::kWaiting;
  int exit_code = 0;
  int signal = 0;
  std::string reason;
  CommitNumber commit;
};
struct HostNews {
  Host host;
  bool online = false;
  std::string address;
  bool removed = false;  // it is no longer known
};
// Whom to let in from now on.
struct TokenNews {
  std::vector<Token> tokens;         // made or changed
  std::vector<std::string> dropped;  // names that are forgotten
  bool all = false;                  // there are no others: whatever was known before is gone
};
// Whoever fills secrets in goes by these from now on.
struct SecretNews {
  std::vector<Secret> secrets;       // set
  std::vector<std::string> dropped;  // names that are forgotten
};
using News = std::variant<RunNews, TaskNews, HostNews, TokenNews, SecretNews>;

// A task that the server itself carries out. Its end comes back as a ServerReport.
struct ServerOrder {
  TaskKey task;
  // Without templates. A condition's end says its `value` alone: the engine judges it.
  std::variant<HttpAction, NotifyAction, ConditionAction> what;
  std::string job = {};    // of the run, for messages
  std::string state = {};  // likewise
  bool notice = false;     // and not the work of a stage
};

// A slot is due: somebody is to plan its run, and to answer with FireSlot, also when that fails.
// Asked again when the answer does not come.
struct PrepareSlot {
  std::string trigger;
  std::uint32_t version = 0;
  WallTime slot;
  std::uint64_t act = 0;
  std::shared_ptr<const TriggerSpec> spec;
  std::map<std::string, std::string> data;  // that its runs carry on
  bool find_author = false;                 // of the trigger: its row does not say
};
// Triggers come near: somebody is to read them (Store::DueTriggers) and to answer with
// TakeTriggers. Asked again when the answer does not come.
struct FetchTriggers {
  DueCursor after;
  std::int64_t until = 0;
  std::size_t limit = 0;
};

// What leaves the engine once the batch that was open when it was decided is durable.
struct Effects {
  std::vector<Reply> replies;
  std::vector<Links::Outgoing> frames;
  std::vector<LinkId> closes;
  std::vector<News> news;
  std::vector<ServerOrder> server_orders;
  std::vector<TaskKey> server_stops;  // of orders that nobody wants any more
  std::vector<PrepareSlot> slots;
  std::vector<FetchTriggers> fetches;

  bool Empty() const {
    return replies.empty() && frames.empty() && closes.empty() && news.empty() &&
           server_orders.empty() && server_stops.empty() && slots.empty() && fetches.empty();
  }
  void Append(Effects&& more);
};

}  // namespace muster::engine
