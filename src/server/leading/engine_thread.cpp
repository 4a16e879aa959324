#include "server/leading/engine_thread.hpp"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "server/leading/slots_first.hpp"
#include "server/leading/stall_text.hpp"

namespace muster::server {
namespace {

constexpr Duration kAnswerWithin = std::chrono::seconds(10);
constexpr Duration kWarnEvery = std::chrono::seconds(10);
constexpr std::size_t kTakeAtOnce = 512;

}  // namespace

EngineThread::EngineThread(Store& store, Links& links, Coordinator& coordinator, const Clock& clock,
                           OnNews on_news, engine::Pipeline::Settings settings, std::string name)
    : clock_(clock),
      coordinator_(coordinator),
      pipeline_(
          store, links,
          {.reply = [this](engine::Reply reply) { Reply(std::move(reply)); },
           .news = std::move(on_news),
           .deposed =
               [this](const Error& why) {
                 spdlog::error("engine deposed code={} reason=\"{}\"; loading again",
                               Name(why.code), why.message);
                 candidate_.WasDeposed(why);
                 if (server_.ended) server_.ended();
                 // Callers of a batch were answered; these never came to one.
                 AnswerAll({ErrorCode::kUnavailable,
                            fmt::format("the server no longer leads: {}; try again", why.message)});
               },
           .committed =
               [this](engine::Pipeline::CommitTicket ticket, Result<> result) {
                 {
                   base::Lock lock(mutex_);
                   commits_.emplace_back(ticket, std::move(result));
                 }
                 changed_.NotifyOne();
               },
           .work =
               [this](std::vector<engine::ServerWork> work) {
                 if (server_.work) server_.work(std::move(work));
               }},
          settings),
      candidate_({.store = store,
                  .clock = clock,
                  .coordinator = coordinator,
                  .name = std::move(name),
                  .pipeline = pipeline_,
                  .set_elected = [this](bool elected) { SetElected(elected); },
                  .stepped_down = [this](const std::string& why) { SteppedDown(why); }}) {}

EngineThread::~EngineThread() { Stop(); }

Result<> EngineThread::Start() {
  if (const auto campaigns = candidate_.Campaign(); !campaigns) return campaigns;
  {
    base::Lock lock(mutex_);
    started_ = true;
  }
  thread_ = std::thread([this] { Loop(); });
  return {};
}

std::string EngineThread::CannotLead() const { return candidate_.CannotLead(Decides()); }

void EngineThread::Look() {
  {
    base::Lock lock(mutex_);
    looks_ = true;
  }
  changed_.NotifyOne();
}

void EngineThread::SetElected(bool elected) {
  {
    base::Lock lock(mutex_);
    elected_ = elected;
  }
  changed_.NotifyOne();
}

void EngineThread::SteppedDown(const std::string& why) {
  if (server_.ended) server_.ended();
  AnswerAll({ErrorCode::kTimeout,
             fmt::format("the server no longer leads: {}; it may have happened: look, or ask again "
                         "with the same Idempotency-Key",
                         why)});
}

void EngineThread::StandBy(bool wanted) {
  {
    base::Lock lock(mutex_);
    standing_by_ = wanted;
  }
  changed_.NotifyOne();
}

void EngineThread::AnswerAll(const Error& error) {
  std::vector<OnAnswer> left;
  {
    base::Lock lock(mutex_);
    left = owed_.TakeAll();
    queue_.clear();
  }
  for (const auto& on_answer : left) on_answer(Fail(error));
}

void EngineThread::Stop() {
  {
    base::Lock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyOne();
  if (thread_.joinable()) thread_.join();
}

void EngineThread::Submit(engine::AnyCommand command) {
  {
    base::Lock lock(mutex_);
    if (started_ && !elected_) return;  // the next leader asks every node
    queue_.push_back(std::move(command));
    if (queue_.size() > 1) return;  // the loop was woken for the first
  }
  changed_.NotifyOne();
}

std::optional<RequestId> EngineThread::Register(OnAnswer on_answer) {
  std::string reason;
  {
    base::Lock lock(mutex_);
    reason = stopping_ ? "the server is shutting down" : status_.reason;
    if (reason.empty()) return owed_.Owe(std::move(on_answer), clock_.Read().mono + kAnswerWithin);
  }
  on_answer(Fail(ErrorCode::kUnavailable, "{}; nothing was done", reason));
  return std::nullopt;
}

void EngineThread::Reply(engine::Reply reply) {
  OnAnswer on_answer;
  {
    base::Lock lock(mutex_);
    on_answer = owed_.Take(reply.request);
  }
  if (on_answer) on_answer(std::move(reply.answer));
}

// A batch that cannot be written is kept until it can, and no caller should wait for that.
void EngineThread::GiveUpWaiting() {
  const MonoTime now = clock_.Read().mono;
  std::vector<OnAnswer> late;
  {
    base::Lock lock(mutex_);
    late = owed_.TakeLate(now);
  }
  const std::string why = pipeline_.Stalled().empty()
                              ? "the store does not answer"
                              : StallText(pipeline_.Stalled(), data_folder_);
  for (const auto& on_answer : late)
    on_answer(Fail(ErrorCode::kTimeout,
                   "{}; it may still happen: look, or ask again with the same Idempotency-Key",
                   why));
}

EngineThread::Status EngineThread::GetStatus() const {
  base::Lock lock(mutex_);
  Status status = status_;
  status.queued = queue_.size();
  return status;
}

bool EngineThread::Decides() const {
  base::Lock lock(mutex_);
  return status_.leading;
}

base::Activity::View EngineThread::GetActivity() const {
  auto view = activity_.Look();
  base::Lock lock(mutex_);
  view.queued = queue_.size();
  view.counters = {{"commands", status_.commands},
                   {"batches", status_.batches},
                   {"open_runs", status_.open_runs},
                   {"answers_owed", owed_.Count()}};
  return view;
}

// A batch is sent again several times a second; the log need not say so each time.
void EngineThread::WarnOf(CommitNumber batch, const Error& error) {
  const MonoTime now = clock_.Read().mono;
  if (batch == warned_of_ && now < warn_again_) return;
  warned_of_ = batch;
  warn_again_ = now + kWarnEvery;
  spdlog::warn("commit batch={} code={} reason=\"{}\"", batch.value, Name(error.code),
               error.message);
}

void EngineThread::TakeCommands() {
  std::vector<std::pair<engine::Pipeline::CommitTicket, Result<>>> commits;
  {
    base::Lock lock(mutex_);
    commits.swap(commits_);
  }
  for (auto& [ticket, result] : commits) {
    if (!result)
      WarnOf(ticket.number, result.error());
    else
      ++batches_;
    pipeline_.Committed(ticket, std::move(result), candidate_.Time());
  }
  if (!pipeline_.Ready()) return;
  std::vector<engine::AnyCommand> taken;
  {
    base::Lock lock(mutex_);
    if (queue_.size() > kTakeAtOnce) BringSlotsFirst(queue_);
    const std::size_t count = std::min(queue_.size(), kTakeAtOnce);
    taken.insert(taken.end(), std::make_move_iterator(queue_.begin()),
                 std::make_move_iterator(queue_.begin() + static_cast<std::ptrdiff_t>(count)));
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  const Now now = candidate_.Time();
  for (const auto& command : taken) pipeline_.Take(command, now);
  commands_ += taken.size();
}

// Tells the others how it stands.
void EngineThread::Publish() {
  const std::string follows = pipeline_.Leading() ? "" : candidate_.WhoLeads();
  base::Lock lock(mutex_);
  status_.leading = pipeline_.Leading();
  if (pipeline_.Leading()) status_.cluster = pipeline_.engine()->state().cluster;
  status_.term = pipeline_.term();
  status_.commit = pipeline_.committed_number();
  status_.commands = commands_;
  status_.batches = batches_;
  if (pipeline_.Leading()) {
    status_.gates = pipeline_.engine()->state().keeping.gates;
    status_.restored = pipeline_.engine()->state().keeping.restored;
    const auto& triggers = pipeline_.engine()->state().triggers;
    status_.triggers = {.counts = triggers.counts,
                        .near = triggers.entries.size(),
                        .running = triggers.runs.size(),
                        .next = triggers.due.empty() ? WallTime{} : triggers.due.begin()->first,
                        .slots = triggers.tally};
    status_.freezes.clear();
    for (const auto& [id, freeze] : pipeline_.engine()->state().limiter.freezes)
      status_.freezes.push_back(freeze);
  }
  status_.open_runs = pipeline_.Leading() ? pipeline_.engine()->state().runs.open.size() : 0;
  status_.reason = !pipeline_.Leading()          ? follows
                   : pipeline_.Stalled().empty() ? ""
                                                 : StallText(pipeline_.Stalled(), data_folder_);
}

// Until there is something to do, at `wake` or before.
void EngineThread::Sleep(MonoTime wake) {
  const MonoTime lead_until = coordinator_.LeadUntil();
  const MonoTime silent = candidate_.SilentAt();
  base::Lock lock(mutex_);
  const auto has_work = [this]() REQUIRES(mutex_) {
    return !commits_.empty() || stopping_ || (!queue_.empty() && pipeline_.Ready()) ||
           (elected_ && !pipeline_.Leading() && candidate_.TriesNow()) ||
           (!elected_ && pipeline_.Leading()) || (standing_by_ && candidate_.Campaigning()) ||
           looks_;
  };
  while (!has_work()) {
    const MonoTime now = clock_.Read().mono;
    MonoTime until = pipeline_.Leading() ? std::min(wake, lead_until) : kNever;
    until = std::min({until, candidate_.NextTry(elected_, standing_by_), owed_.NextLate(), silent});
    if (until <= now) return;
    if (until == kNever) {
      changed_.Wait(mutex_);
      if (elected_ && !pipeline_.Leading()) return;
    } else {
      changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() +
                                     std::min<Duration>(until - now, std::chrono::seconds(1)));
      if (clock_.Read().mono >= until) return;
    }
  }
}

MonoTime EngineThread::Turn(bool elected, bool stopping) {
  const base::Activity::Work mark(activity_,
                                  elected && !pipeline_.Leading() ? "loading records" : "deciding");
  const MonoTime lead_until = coordinator_.LeadUntil();
  const bool may_act = Leading::MayAct(elected, clock_.Read().mono, lead_until);
  if (!may_act)
    candidate_.StepDown(elected ? "it could not renew its leadership in time" : "it was told so");
  pipeline_.LeadUntil(lead_until);
  if (may_act && !pipeline_.Leading() && !stopping) candidate_.TryToLead();
  TakeCommands();
  GiveUpWaiting();
  const MonoTime wake = pipeline_.Drive(candidate_.Time());
  candidate_.WatchStalls();
  return wake;
}

void EngineThread::Loop() {
  activity_.Attach();
  while (true) {
    bool standing_by = false;
    bool elected = false;
    bool stopping = false;
    {
      base::Lock lock(mutex_);
      looks_ = false;
      standing_by = standing_by_;
      stopping = stopping_;
    }
    candidate_.KeepCampaigning(standing_by, stopping);
    {
      base::Lock lock(mutex_);
      elected = elected_;
      stopping = stopping_;
    }
    const MonoTime wake = Turn(elected, stopping);
    if (stopping && (!pipeline_.Leading() || pipeline_.Idle() || !pipeline_.Stalled().empty()))
      return;
    if (stopping) {
      base::Lock lock(mutex_);
      while (commits_.empty()) changed_.Wait(mutex_);
      continue;
    }
    Publish();
    Sleep(wake);
  }
}

}  // namespace muster::server
