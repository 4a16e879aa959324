#include "sim/cluster/sim_seat.hpp"

#include <algorithm>
#include <utility>

#include "adapters/etcd/lead_time.hpp"

namespace muster::sim {
namespace {

constexpr std::int64_t kRenewEvery = SimCoordinator::kTtl.count() / 4;
constexpr std::int64_t kTryAgain = SimCoordinator::kTtl.count() / 20;
constexpr std::int64_t kSeatAnswersWithin = SimCoordinator::kTtl.count() / 6;

}  // namespace

SimSeat::SimSeat(World& world, SimCoordinator& service, const SeatMood& mood, const SimClock& clock,
                 Life life, std::string name)
    : world_(world),
      service_(service),
      mood_(mood),
      clock_(clock),
      life_(std::move(life)),
      name_(std::move(name)) {}

void SimSeat::Start() {
  // The service outlives this; `life_` of then says that nobody listens any more.
  service_.Watch(
      [this, life = life_, &world = world_, &service = service_, &mood = mood_]() mutable {
        if (!life.Alive() || mood.cut) return;
        const auto view = service.Look();
        life.Later(world.Delay(5, mood.news), [this, view] { Hear(view); });
      });
  Work();
}

// A request and its answer, each of which may be lost; without an answer in time it counts as lost.
void SimSeat::AskService(std::function<Answer()> at_service, Answered answered) {
  const std::uint64_t number = ++asked_;
  const auto settle = [this, number, answered](std::optional<Answer> answer) {
    if (number != asked_) return;
    ++asked_;
    answered(std::move(answer));
  };
  life_.Later(kSeatAnswersWithin, [settle] { settle(std::nullopt); });
  if (world_.Chance(mood_.lost)) return;
  world_.After(world_.Delay(mood_.usual, mood_.rare),
               [&world = world_, &mood = mood_, life = life_, at_service, settle]() mutable {
                 if (mood.cut) return;
                 const Answer answer = at_service();
                 if (world.Chance(mood.lost)) return;
                 life.Later(world.Delay(mood.usual, mood.rare), [&mood, settle, answer] {
                   if (!mood.cut) settle(answer);
                 });
               });
}

void SimSeat::WorkAgain(std::int64_t delay) {
  life_.Later(delay, [this, number = ++work_] {
    if (number == work_) Work();
  });
}

void SimSeat::Work() {
  EndIfOver();
  const MonoTime sent = OwnNow();
  AskService(
      [&service = service_, lease = lease_, name = name_] {
        Answer answer;
        answer.lease = lease != 0 ? lease : service.Grant(name);
        answer.yes = lease == 0 || service.KeepAlive(lease);
        answer.view = service.Look();
        return answer;
      },
      [this, sent](const std::optional<Answer>& answer) {
        if (!answer) return WorkAgain(kTryAgain);
        if (answer->yes) return TakeLease(sent, answer->lease, answer->view);
        lease_ = 0;
        leads_ = false;
        TellSoon();
        WorkAgain(0);
      });
}

void SimSeat::TakeLease(MonoTime sent, SimCoordinator::Lease lease,
                        const SimCoordinator::View& view) {
  lease_ = lease;
  lease_until_ = etcd::LeadTime(sent, SimCoordinator::kTtl);
  // A gap is a loss, however short.
  EndIfOver();
  if (leads_) until_ = std::max(until_, lease_until_);
  Hear(view);
  WorkAgain(kRenewEvery);
  Compete();
}

// A candidate who was told of his loss, or never led, asks for the key when it is free.
void SimSeat::Compete() {
  const bool wants = candidate_ && !told_;
  const bool holds = view_.leader_lease == lease_;
  if (!candidate_ && holds)
    return AskService(
        [&service = service_, lease = lease_] {
          service.Resign(lease);
          return Answer{.yes = true, .lease = lease, .view = service.Look()};
        },
        [this](const std::optional<Answer>& answer) {
          if (answer) Hear(answer->view);
        });
  if (!wants || leads_ || (view_.leader_lease != 0 && !holds)) return;
  AskService(
      [&service = service_, lease = lease_] {
        const bool won = service.Claim(lease);
        return Answer{.yes = won, .lease = lease, .view = service.Look()};
      },
      [this](const std::optional<Answer>& answer) {
        if (!answer) return WorkAgain(kTryAgain);
        Hear(answer->view);
        if (!answer->yes || answer->lease != lease_ || !candidate_ || told_) return;
        if (lease_until_ <= OwnNow()) return;
        leads_ = true;
        until_ = lease_until_;
        TellSoon();
      });
}

void SimSeat::Hear(const SimCoordinator::View& view) {
  if (view.revision <= view_.revision) return;
  const bool key_is_free = view.leader_lease == 0 && view_.leader_lease != 0;
  view_ = view;
  LoseWithKey();
  if (key_is_free && lease_ != 0) WorkAgain(0);
  if (changed_) changed_();
}

// An earlier wish to give it up may reach the service when it is long led again.
void SimSeat::LoseWithKey() {
  if (!leads_ || view_.leader_lease == lease_) return;
  leads_ = false;
  TellSoon();
}

void SimSeat::EndIfOver() {
  if (!leads_ || OwnNow() < until_) return;
  leads_ = false;
  TellSoon();
}

void SimSeat::TellSoon() {
  life_.Later(world_.Delay(2, mood_.told_late), [this] { Tell(); });
}

void SimSeat::Tell() {
  EndIfOver();
  if (candidate_ && leads_ != told_) {
    told_ = leads_;
    if (told_)
      elected_();
    else
      lost_();
  }
}

Result<> SimSeat::Campaign(std::string, std::function<void()> elected, std::function<void()> lost) {
  if (candidate_) return Fail(ErrorCode::kConflict, "{} is a candidate already", name_);
  elected_ = std::move(elected);
  lost_ = std::move(lost);
  candidate_ = true;
  WorkAgain(0);
  return {};
}

void SimSeat::Resign() {
  candidate_ = leads_ = told_ = false;
  WorkAgain(0);
}

std::vector<Member> SimSeat::Members() const {
  std::vector<Member> members;
  for (const auto& name : view_.members) members.push_back({.name = name, .url = name});
  return members;
}

}  // namespace muster::sim
