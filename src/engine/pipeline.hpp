#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/engine.hpp"
#include "ports/links.hpp"
#include "ports/store.hpp"

namespace muster::engine {

// Decide, commit, act. Gathers decisions into numbered batches, keeps one batch on its way to the
// store, and releases effects only when the batch that was open when they were decided is durable.
//
// Not thread-safe, never blocks, owns no thread: the program calls it from one thread, the
// simulation from its event loop.
class Pipeline {
 public:
  // Which commit an answer is for. A new leadership has a new epoch, so late answers are told
  // apart.
  struct CommitTicket {
    std::uint64_t epoch = 0;
    CommitNumber number;
  };
  // Where replies and news go.
  struct Listener {
    std::function<void(Reply)> reply;
    std::function<void(std::vector<News>)> news;
    // The memory was thrown away: fenced by another leader, or a constraint refused (a bug of
    // ours).
    std::function<void(const Error& why)> deposed;
    // Carries a commit's result back to the pipeline's own thread: must arrange for Committed to be
    // called there with the same arguments. May be called from any thread.
    std::function<void(CommitTicket, Result<>)> committed;
    // Carries out what the engine has the server do, in any order. Without one, what waits for it
    // waits for ever; needed when Options::zones is set.
    std::function<void(std::vector<ServerWork>)> work = {};
  };
  struct Settings {
    Options engine;
    // A batch takes no more commands past this. Rows of runs with many stages count more.
    std::size_t most_changes = 4000;
    Duration resend = std::chrono::milliseconds(200);
  };

  Pipeline(Store& store, Links& links, Listener listener, Settings settings);

  // Takes the next term, loads, and asks every link to say Hello. On failure it does not lead.
  Result<> Lead(Now now);
  bool Leading() const { return engine_ != nullptr; }

  // The leadership holds until then, as renewed; kNever without a bound. The caller that drives the
  // pipeline calls StepDown by then.
  void LeadUntil(MonoTime until);

  // True while a command may be handed in: leading, not stalled, the gathering batch has room.
  bool Ready() const;
  // While it leads but the store does not answer: what to tell callers. "" otherwise.
  const std::string& Stalled() const { return stalled_; }

  // Decides a command. Only while Ready.
  void Take(const AnyCommand& command, Now now);

  // Goes on with due and unfinished work, sends the gathered batch when none is on its way, resends
  // a batch whose outcome is open. Returns when it wants to be called again, at the latest.
  MonoTime Drive(Now now);

  // The store's answer for a batch, back on the pipeline's thread.
  void Committed(CommitTicket ticket, Result<> result, Now now);

  // Nothing on its way and nothing gathered: everything decided is durable and released.
  bool Idle() const { return !in_flight_ && gathering_.changes.empty(); }

  // Gives up leading; the memory is gone. Effects that were not released never happen.
  void StepDown();

  Term term() const { return term_; }
  CommitNumber committed_number() const { return durable_; }
  const Engine* engine() const { return engine_.get(); }

 private:
  struct Gathering {
    std::vector<Change> changes;
    Effects effects;
    std::size_t weight = 0;   // of the changes, in changes of ordinary size
    std::size_t weighed = 0;  // so many of them count in `weight`
  };
  struct InFlight {
    CommitNumber number;
    std::shared_ptr<const Batch> batch;
    Effects effects;
    bool answered = true;  // false while the store has it
    MonoTime resend_at = kNever;
  };

  CommitNumber GatheringNumber() const;
  void Attach(Effects effects);
  void Weigh();
  void SendBatch();
  void Hand();
  void Release(Effects effects);
  void Depose(const Error& why);

  Store& store_;
  Links& links_;
  Listener listener_;
  Settings settings_;
  Term term_;
  CommitNumber durable_;
  std::unique_ptr<Engine> engine_;
  Gathering gathering_;
  std::optional<InFlight> in_flight_;
  std::string stalled_;
  MonoTime lead_until_ = kNever;
  std::uint64_t epoch_ = 0;
};

}  // namespace muster::engine
