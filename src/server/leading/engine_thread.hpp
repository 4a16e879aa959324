#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/activity.hpp"
#include "base/mutex.hpp"
#include "engine/pipeline.hpp"
#include "ports/clock.hpp"
#include "ports/coordinator.hpp"
#include "server/leading/candidate.hpp"
#include "server/leading/owed_answers.hpp"

namespace muster::server {

// The one thread that decides. Campaigns, leads, and drives the pipeline; everybody else hands in
// commands and gets answers.
class EngineThread {
 public:
  using OnNews = std::function<void(std::vector<engine::News>)>;

  // What /readyz, /status and /metrics tell.
  struct Status {
    bool leading = false;
    std::string reason = "no leader yet";  // why it takes no commands; "" when it does
    std::string cluster;
    Term term;
    CommitNumber commit;
    std::uint64_t commands = 0;
    std::uint64_t batches = 0;
    std::size_t queued = 0;
    std::size_t open_runs = 0;
    struct Triggers {
      TriggerCounts counts;     // of all there are
      std::size_t near = 0;     // of them, those in memory: due within the hour, or running
      std::size_t running = 0;  // with an open run
      WallTime next;            // when one is to be looked at; zero: none within the hour
      engine::SlotTally slots;
    } triggers;
    std::map<std::string, std::string> gates;  // closed ones, with their reasons
    std::vector<Freeze> freezes;               // by id, perhaps over by now
    std::optional<Snapshot::Restored> restored;
  };

  // The server around it; each is called on the engine's thread and must not block.
  struct Server {
    std::function<void(std::vector<engine::ServerWork>)> work = {};  // does what the engine asks
    std::function<void()> ended = {};                                // this server no longer leads
  };

  // `name` is the server's among the members of its cluster. A server that cannot lead (its clock
  // is wrong, it does not reach the store) makes room for the others, if there are any, and tries
  // again later.
  EngineThread(Store& store, Links& links, Coordinator& coordinator, const Clock& clock,
               OnNews on_news, engine::Pipeline::Settings settings, std::string name);
  ~EngineThread();

  Result<> Start();

  // Set once, before Start.
  void SetServer(Server server) { server_ = std::move(server); }

  // Whose word on this server's clock counts; set once, before Start. Without one every clock is
  // good: the store is this machine's own.
  void SetJudge(ClockJudge& judge) { candidate_.SetJudge(judge); }
  // For the message about a disk that is full; set once, before Start.
  void SetDataFolder(std::string folder) { data_folder_ = std::move(folder); }
  // What is known of the way to the store beside what the engine writes; set once, before Start.
  void SetPulse(const StorePulse& pulse) { candidate_.SetPulse(pulse); }
  // Something may have changed that decides whether this server should lead. From any thread.
  void Look();
  // Why this server does not compete, beside standing by; "" when it may. From any thread.
  std::string CannotLead() const;

  // While it stands by the server is no candidate; one that leads gives up after the batch in hand.
  void StandBy(bool wanted);

  // Finishes the batch in hand, releases what it allows, and ends the thread.
  void Stop();

  // Hands in a command that is not answered (links).
  void Submit(engine::AnyCommand command);

  // Hands in a command, whose request id is set here, and calls back with its answer: on the
  // engine's thread, so it must not block. kUnavailable at once while the engine takes no command.
  // kTimeout when the store has not answered for ten seconds: it may have happened, or still will.
  template <engine::Answered C>
  void Ask(C command, std::function<void(Result<typename C::Answer>)> on_answer) {
    const auto id = Register([on_answer = std::move(on_answer)](Result<engine::AnyAnswer> answer) {
      on_answer(engine::Unpack<C>(std::move(answer)));
    });
    if (!id) return;
    command.caller.request = *id;
    Submit(engine::AnyCommand(std::move(command)));
  }

  Status GetStatus() const;
  bool Decides() const;  // it leads, and has loaded
  base::Activity::View GetActivity() const;

 private:
  using OnAnswer = OwedAnswers::OnAnswer;

  std::optional<RequestId> Register(OnAnswer on_answer);
  void Loop();
  MonoTime Turn(bool elected, bool stopping);
  void SetElected(bool elected);
  void SteppedDown(const std::string& why);
  void AnswerAll(const Error& error) EXCLUDES(mutex_);  // and forgets what was asked
  void TakeCommands();
  void Publish();
  void Sleep(MonoTime wake);
  void Reply(engine::Reply reply);
  void GiveUpWaiting();
  void WarnOf(CommitNumber batch, const Error& error);

  const Clock& clock_;
  Coordinator& coordinator_;
  std::string data_folder_;
  base::Activity activity_{"engine"};
  Server server_;
  engine::Pipeline pipeline_;  // the loop's own, as is what campaigns for it
  Candidate candidate_;

  mutable base::Mutex mutex_;
  base::Condition changed_;
  std::deque<engine::AnyCommand> queue_ GUARDED_BY(mutex_);
  std::vector<std::pair<engine::Pipeline::CommitTicket, Result<>>> commits_ GUARDED_BY(mutex_);
  bool started_ GUARDED_BY(mutex_) = false;
  bool elected_ GUARDED_BY(mutex_) = false;
  bool stopping_ GUARDED_BY(mutex_) = false;
  bool standing_by_ GUARDED_BY(mutex_) = false;
  bool looks_ GUARDED_BY(mutex_) = false;  // there may be news for the candidate
  Status status_ GUARDED_BY(mutex_);
  OwedAnswers owed_ GUARDED_BY(mutex_);

  CommitNumber warned_of_;
  MonoTime warn_again_{0};
  std::uint64_t commands_ = 0;
  std::uint64_t batches_ = 0;
  std::thread thread_;
};

}  // namespace muster::server
