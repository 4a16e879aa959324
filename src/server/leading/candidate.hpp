#pragma once

#include <functional>
#include <string>

#include "engine/pipeline.hpp"
#include "ports/clock.hpp"
#include "ports/coordinator.hpp"
#include "server/leading/clock_judge.hpp"
#include "server/leading/leading.hpp"
#include "server/leading/store_probe.hpp"

namespace muster::server {

// This server in the election: enters it, takes the lead when elected, and leaves both to the
// others while it cannot lead (its clock is wrong, it does not reach the store). Leading has the
// rules. No thread and no lock of its own: the engine's loop calls it, between its turns.
class Candidate {
 public:
  struct Parts {
    Store& store;
    const Clock& clock;
    Coordinator& coordinator;
    std::string name;  // among the members of the cluster
    engine::Pipeline& pipeline;
    // Whether it is elected, as far as known; from any thread.
    std::function<void(bool)> set_elected;
    // The pipeline led and does no more.
    std::function<void(const std::string& why)> stepped_down;
  };

  // All parts outlive it.
  explicit Candidate(Parts parts) : parts_(std::move(parts)) {}

  // Whose word on this server's clock counts, and what is known of the way to the store beside what
  // the engine writes. Set once, before Campaign; see EngineThread.
  void SetJudge(ClockJudge& judge) { judge_ = &judge; }
  void SetPulse(const StorePulse& pulse) { pulse_ = &pulse; }

  // The time as this server may go by it.
  Now Time() const;

  // Why this server does not compete, beside standing by; "" when it may. From any thread.
  std::string CannotLead(bool leads) const;

  Result<> Campaign();
  // Enters the election or leaves it, by what is known now.
  void KeepCampaigning(bool standing_by, bool stopping);
  // It is elected and does not lead: leads, if it is time to try.
  void TryToLead();
  void StepDown(const std::string& why);
  // The engine's memory was thrown away; it may try to lead again at once.
  void WasDeposed(const Error& why) { trouble_ = why.message; }
  // Gives up the lead when the store leaves it without answers for too long.
  void WatchStalls();

  bool Campaigning() const { return campaigning_; }
  // An elected one would try to lead at once.
  bool TriesNow() const { return leading_.lead_again().ms == 0; }
  // When it is to act next although nothing happened; kNever: it need not.
  MonoTime NextTry(bool elected, bool standing_by) const;
  MonoTime SilentAt() const;  // when the store will have been silent for too long
  // Who leads, and why it is not this server.
  std::string WhoLeads() const;

 private:
  MonoTime Mono() const { return parts_.clock.Read().mono; }
  bool HoldsBack();
  void MakeRoom(const std::string& why);
  void GiveUp(const std::string& why);
  Result<> CheckClock();

  Parts parts_;
  ClockJudge* judge_ = nullptr;
  const StorePulse* pulse_ = nullptr;
  Leading leading_;
  bool campaigning_ = false;
  std::string held_back_;  // why it is no candidate; "" when it may be one
  std::string trouble_;    // why it could not lead
};

}  // namespace muster::server
