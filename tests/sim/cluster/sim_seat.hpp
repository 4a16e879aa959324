#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ports/coordinator.hpp"
#include "sim/cluster/sim_clock.hpp"
#include "sim/cluster/sim_coordinator.hpp"
#include "sim/cluster/sim_life.hpp"

namespace muster::sim {

// How ill a server's way to the coordinator is just now.
struct SeatMood {
  bool cut = false;        // nothing gets through
  double lost = 0;         // of requests and answers, each
  std::int64_t usual = 3;  // ms one way
  std::int64_t rare = 200;
  std::int64_t news = 50;       // ms until a change is heard of
  std::int64_t told_late = 20;  // ms until `elected` or `lost` is called
};

// A server's place at the coordinator, as the etcd adapter keeps one: a lease that is renewed in
// time, a candidacy, and the members and the leader as last heard.
class SimSeat final : public Coordinator {
 public:
  SimSeat(World& world, SimCoordinator& service, const SeatMood& mood, const SimClock& clock,
          Life life, std::string name);

  Result<> Campaign(std::string name, std::function<void()> elected,
                    std::function<void()> lost) override;
  void Resign() override;
  MonoTime LeadUntil() const override { return leads_ && told_ ? until_ : MonoTime{0}; }
  std::string Leader() const override { return view_.leader; }
  void Announce(Member) override {}
  std::vector<Member> Members() const override;
  void OnChange(std::function<void()> changed) override { changed_ = std::move(changed); }
  std::string Trouble() const override { return {}; }

  void Start();
  // For checkers: what the leadership of now rests on.
  SimCoordinator::Lease lease() const { return lease_; }

 private:
  struct Answer {
    bool yes = false;
    SimCoordinator::Lease lease = 0;
    SimCoordinator::View view;
  };
  using Answered = std::function<void(std::optional<Answer>)>;

  MonoTime OwnNow() const { return clock_.Read().mono; }
  void AskService(std::function<Answer()> at_service, Answered answered);
  void Work();
  void WorkAgain(std::int64_t delay);
  void TakeLease(MonoTime sent, SimCoordinator::Lease lease, const SimCoordinator::View& view);
  void Compete();
  void Hear(const SimCoordinator::View& view);
  void LoseWithKey();  // when the leader's key is no longer ours, as etcd::Keeper does
  void EndIfOver();
  void TellSoon();
  void Tell();

  World& world_;
  SimCoordinator& service_;
  const SeatMood& mood_;
  const SimClock& clock_;
  Life life_;
  const std::string name_;
  std::function<void()> elected_;
  std::function<void()> lost_;
  std::function<void()> changed_;
  bool candidate_ = false;
  bool leads_ = false;
  bool told_ = false;
  MonoTime until_;        // of the leadership
  MonoTime lease_until_;  // of the lease
  SimCoordinator::Lease lease_ = 0;
  SimCoordinator::View view_;
  std::uint64_t asked_ = 0;  // number of the request under way
  std::uint64_t work_ = 0;   // number of the next round of work
};

}  // namespace muster::sim
