#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ports/coordinator.hpp"

namespace muster {

class LocalElection;

// Elects among the coordinators that share one LocalElection, in the order they asked. A server
// that is alone makes its own election and leads at once. Callbacks come from the thread whose call
// caused them (Campaign, Resign, LocalElection::Depose), with no lock held.
class LocalCoordinator final : public Coordinator {
 public:
  LocalCoordinator();
  explicit LocalCoordinator(std::shared_ptr<LocalElection> election);
  ~LocalCoordinator() override;  // resigns

  Result<> Campaign(std::string name, std::function<void()> elected,
                    std::function<void()> lost) override;
  // Waits for a callback of this coordinator that is under way in another thread.
  void Resign() override;
  MonoTime LeadUntil() const override;
  std::string Leader() const override;
  void Announce(Member self) override;
  std::vector<Member> Members() const override;
  void OnChange(std::function<void()> changed) override;
  std::string Trouble() const override { return ""; }

 private:
  std::shared_ptr<LocalElection> election_;  // shared with the other candidates of the process
};

}  // namespace muster
