#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adapters/etcd/etcd_options.hpp"
#include "ports/clock.hpp"
#include "ports/coordinator.hpp"

namespace muster {

// Elects and lists servers through etcd (3.4 and later), over its JSON gateway. One lease stands
// for this server: with it go its seat among the members and, when it leads, the leader's key. Has
// three threads: one keeps the lease, one watches, one calls back, so that `lost` comes in time
// while requests hang. No wall clock is looked at.
//
// Callbacks, also `changed`, come from one thread with no lock held, and never two at once.
// Campaign, Announce and Resign do not wait for etcd; Resign waits for `elected` or `lost` under
// way, unless called from there. What became of them shows in the callbacks and in Trouble.
class EtcdCoordinator final : public Coordinator {
 public:
  // kInvalid: an option makes no sense, or an endpoint would be reached over a network in plain
  // text.
  static Result<> Check(const EtcdOptions& options);
  // Whether an endpoint is not on this machine.
  static bool LeavesTheMachine(const std::vector<std::string>& endpoints);
  // Starts, whether or not etcd can be reached. kInvalid as Check says. `clock` outlives it.
  static Result<std::unique_ptr<EtcdCoordinator>> Make(EtcdOptions options, const Clock& clock);
  // Resigns and ends the lease, so that others need not wait; takes no longer than two requests may
  // take. Not from a callback.
  ~EtcdCoordinator() override;

  Result<> Campaign(std::string name, std::function<void()> elected,
                    std::function<void()> lost) override;
  void Resign() override;
  MonoTime LeadUntil() const override;
  std::string Leader() const override;
  void Announce(Member self) override;
  std::vector<Member> Members() const override;
  void OnChange(std::function<void()> changed) override;
  std::string Trouble() const override;

 private:
  struct Parts;
  explicit EtcdCoordinator(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace muster
