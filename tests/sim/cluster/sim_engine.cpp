#include "sim/cluster/sim_engine.hpp"

#include <algorithm>
#include <utility>

namespace muster::sim {
namespace {

constexpr Duration kAnswerWithin = std::chrono::seconds(10);

}  // namespace

SimEngine::SimEngine(World& world, Life life, std::string name, Parts parts)
    : world_(world),
      life_(std::move(life)),
      name_(std::move(name)),
      parts_(std::move(parts)),
      pipeline_(parts_.store, parts_.links,
                {.reply = [this](engine::Reply reply) { Reply(std::move(reply)); },
                 .news = [](const std::vector<engine::News>&) {},
                 .deposed =
                     [this](const Error& why) {
                       if (why.code != ErrorCode::kFenced)
                         throw Violation("deposed: " + why.message);
                       world_.Trace("{} is deposed: {}", name_, why.message);
                       parts_.ended();
                     },
                 .committed =
                     [this](engine::Pipeline::CommitTicket ticket, Result<> result) {
                       life_.Later(0, [this, ticket, result = std::move(result)] {
                         commits_.emplace_back(ticket, result);
                         TurnSoon();
                       });
                     },
                 .work =
                     [this](const std::vector<engine::ServerWork>& work) {
                       for (const auto& one : work)
                         if (const auto* order = std::get_if<engine::ServerOrder>(&one))
                           CarryOut(*order);
                     }},
                engine::Pipeline::Settings{}) {}

void SimEngine::Start() { TurnSoon(); }

void SimEngine::SetElected(bool elected) {
  elected_ = elected;
  TurnSoon();
}

void SimEngine::KeepCampaigning() {
  if (campaigning_ || OwnNow() < leading_.campaign_again()) return;
  campaigning_ =
      parts_.seat.Campaign(
                     name_, [this] { SetElected(true); }, [this] { SetElected(false); })
          .has_value();
}

void SimEngine::MakeRoom(const std::string& why) {
  world_.Trace("{} makes room: {}", name_, why);
  StepDown(why);
  parts_.seat.Resign();
  campaigning_ = false;
  leading_.MadeRoom(OwnNow());
  elected_ = false;
}

void SimEngine::StepDown(const std::string& why) {
  if (!pipeline_.Leading()) return;
  world_.Trace("{} no longer leads term {}: {}", name_, pipeline_.term().value, why);
  pipeline_.StepDown();
  parts_.ended();
  queue_.clear();
  for (auto& [id, waiting] : std::exchange(waiting_, {}))
    waiting.answer(Fail(ErrorCode::kTimeout, "the server no longer leads"));
}

void SimEngine::Submit(engine::AnyCommand command) {
  if (!elected_) return;
  queue_.push_back(std::move(command));
  TurnSoon();
}

void SimEngine::Ask(const MakeCommand& make, Servers::Answered answer) {
  if (!pipeline_.Leading() || !pipeline_.Stalled().empty())
    return answer(Fail(ErrorCode::kUnavailable, "no leader yet"));
  const RequestId id(++next_request_);
  waiting_[id] = {std::move(answer), OwnNow() + kAnswerWithin};
  Submit(make(id));
}

void SimEngine::Reply(engine::Reply reply) {
  const auto found = waiting_.find(reply.request);
  if (found == waiting_.end()) return;
  const auto answer = std::move(found->second.answer);
  waiting_.erase(found);
  answer(std::move(reply.answer));
}

void SimEngine::GiveUpWaiting() {
  while (!waiting_.empty() && waiting_.begin()->second.until <= OwnNow()) {
    const auto answer = std::move(waiting_.begin()->second.answer);
    waiting_.erase(waiting_.begin());
    answer(Fail(ErrorCode::kTimeout, "the store does not answer"));
  }
}

void SimEngine::TurnSoon() {
  life_.Later(0, [this, number = ++turn_] {
    if (number == turn_) Turn();
  });
}

void SimEngine::Turn() {
  KeepCampaigning();
  const MonoTime lead_until = parts_.seat.LeadUntil();
  const bool may_act = server::Leading::MayAct(elected_, OwnNow(), lead_until);
  // The worst moment to be frozen in: it has just seen that it may act.
  if (life_.StopsHere([this, may_act, lead_until] { Act(may_act, lead_until); })) {
    world_.Trace("{} is frozen in the middle of a turn", name_);
    return;
  }
  Act(may_act, lead_until);
  if (pipeline_.Leading() && OwnNow() >= lead_until)
    throw Violation(
        fmt::format("{} goes on with term {} after its time", name_, pipeline_.term().value));
}

void SimEngine::Act(bool may_act, MonoTime lead_until) {
  if (!may_act) StepDown(elected_ ? "its time is over" : "it was told so");
  pipeline_.LeadUntil(lead_until);
  if (may_act && !pipeline_.Leading()) TryToLead();
  TakeCommands();
  GiveUpWaiting();
  const MonoTime wake = pipeline_.Drive(parts_.clock.Read());
  const bool stalled = !pipeline_.Stalled().empty();
  if (leading_.Stalls(OwnNow(), stalled, parts_.seat.Members().size()))
    MakeRoom("the store does not answer");
  PlanNext(wake);
}

void SimEngine::PlanNext(MonoTime wake) {
  MonoTime until = kNever;
  if (pipeline_.Leading())
    until = std::min(wake, parts_.seat.LeadUntil());
  else if (elected_)
    until = leading_.lead_again();
  if (!campaigning_) until = std::min(until, leading_.campaign_again());
  if (!waiting_.empty()) until = std::min(until, waiting_.begin()->second.until);
  if (!commits_.empty() || (!queue_.empty() && pipeline_.Ready())) until = OwnNow();
  if (until == kNever) return;
  const std::int64_t least = pipeline_.Ready() ? 0 : 1;
  life_.Later(std::max((until - OwnNow()).count(), least), [this, number = ++turn_] {
    if (number == turn_) Turn();
  });
}

void SimEngine::TryToLead() {
  if (!leading_.TriesAt(OwnNow())) return;
  auto leads = CheckClock();
  if (leads) leads = pipeline_.Lead(parts_.clock.Read());
  if (!leads) {
    world_.Trace("{} cannot lead: {}", name_, leads.error().message);
    if (leading_.Failed(OwnNow(), parts_.seat.Members().size())) MakeRoom(leads.error().message);
    return;
  }
  leading_.Led(OwnNow());
  world_.Trace("{} leads term {}", name_, pipeline_.term().value);
}

Result<> SimEngine::CheckClock() {
  const auto there = parts_.store.ReadClock();
  if (!there) return Fail(there.error());
  const WallTime here = parts_.clock.Read().wall;
  return server::Leading::CheckClock(here, **there, here);
}

void SimEngine::TakeCommands() {
  while (!commits_.empty()) {
    auto [ticket, result] = std::move(commits_.front());
    commits_.pop_front();
    pipeline_.Committed(ticket, std::move(result), parts_.clock.Read());
  }
  while (pipeline_.Ready() && !queue_.empty()) {
    const engine::AnyCommand command = std::move(queue_.front());
    queue_.pop_front();
    pipeline_.Take(command, parts_.clock.Read());
  }
}

// What it does outside goes on when it no longer leads; nobody hears of the end then.
void SimEngine::CarryOut(const engine::ServerOrder& order) {
  if (!outside_.insert(order.task).second) return;
  const bool notice = std::holds_alternative<NotifyAction>(order.what);
  if (notice)
    parts_.truth.NoticeLeaves(order.task, order.state);
  else
    parts_.truth.RequestMade(order.task);
  life_.Later(world_.Delay(300, 20'000), [this, notice, task = order.task] {
    outside_.erase(task);
    engine::ServerReport report{.task = task, .end = {}};
    report.end.state = world_.Chance(0.8) ? TaskState::kSucceeded : TaskState::kFailed;
    report.end.reason = "sim";
    if (notice && report.end.state == TaskState::kSucceeded) parts_.truth.NoticeTaken(task);
    Submit(std::move(report));
  });
}

}  // namespace muster::sim
