#include <algorithm>
#include <utility>

#include "sim/cluster/sim_peers.hpp"

namespace muster::sim {
namespace {

constexpr std::int64_t kRetry = 200;
constexpr std::int64_t kBeat = 300;
constexpr Duration kSilence = std::chrono::seconds(3);

}  // namespace

void SimLeaderLink::HangUp() {
  if (way_) way_->wire->FollowerCloses();
  way_.reset();
}

void SimLeaderLink::Follow(const std::string& leader) {
  if (leader == leader_) return;
  leader_ = leader;
  ++round_;
  HangUp();
  welcome_ = false;
  if (!leader_.empty()) Connect();
}

void SimLeaderLink::Connect() {
  leader_clock_.Forget();
  heard_ = clock_.Read().mono;
  const std::uint64_t round = round_;
  way_ = dial_(
      leader_,
      [this, round](server::LeaderItem item) {
        if (round == round_) Take(std::move(item));
      },
      [this, round] {
        if (round == round_) Retry();
      });
  if (!way_) return Retry();
  Say(server::FollowerBeat{clock_.Read().mono});
  Say(server::FollowerHello{"sim", "sim"});
  Beat();
}

void SimLeaderLink::Retry() {
  welcome_ = false;
  HangUp();
  life_.Later(kRetry, [this, round = ++round_] {
    if (round == round_) Connect();
  });
}

void SimLeaderLink::Beat() {
  const MonoTime now = clock_.Read().mono;
  if (now - heard_ > kSilence) return Retry();
  Say(server::FollowerBeat{now});
  life_.Later(kBeat, [this, round = round_] {
    if (round == round_ && way_) Beat();
  });
}

void SimLeaderLink::Say(server::FollowerItem item) {
  if (way_) way_->say(std::move(item));
}

void SimLeaderLink::AskAgain() {
  if (welcome_) gateway_.AskForHello(server::Hearing::By::kLeaderElsewhere, term_);
}

void SimLeaderLink::Submit(engine::AnyCommand command) {
  if (!welcome_) return;
  if (late_ > 0) passed_on_at_ = std::max(passed_on_at_, world_.Now() + world_.Between(0, late_));
  if (passed_on_at_ <= world_.Now()) return PassOn(std::move(command));
  life_.Later(passed_on_at_ - world_.Now(), [this, round = round_, command = std::move(command)] {
    if (round == round_) PassOn(command);
  });
}

void SimLeaderLink::PassOn(engine::AnyCommand command) {
  if (auto* hello = std::get_if<engine::NodeHello>(&command)) Say(std::move(*hello));
  if (auto* reports = std::get_if<engine::NodeReports>(&command)) Say(std::move(*reports));
  if (auto* closed = std::get_if<engine::LinkClosed>(&command)) Say(*closed);
}

void SimLeaderLink::Take(server::LeaderItem item) {
  heard_ = clock_.Read().mono;
  if (const auto* beat = std::get_if<server::LeaderBeat>(&item))
    return leader_clock_.Heard(beat->echo, beat->now);
  if (std::holds_alternative<server::LeaderRefusal>(item)) {
    refused_ = clock_.Read().mono;
    return Retry();
  }
  if (const auto* welcome = std::get_if<server::LeaderWelcome>(&item)) {
    welcome_ = true;
    term_ = welcome->term;
    return gateway_.AskForHello(server::Hearing::By::kLeaderElsewhere, term_);
  }
  if (auto* told = std::get_if<Links::Outgoing>(&item)) {
    server::ForOwnNodes(told->frame, leader_clock_, clock_.Read().mono);
    return gateway_.Deliver(told->link, std::move(told->frame));
  }
  if (const auto* close = std::get_if<server::CloseLink>(&item)) gateway_.Close(close->link);
}

}  // namespace muster::sim
