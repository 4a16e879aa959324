#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "engine/pipeline.hpp"
#include "server/leading/leading.hpp"
#include "sim/cluster/sim_seat.hpp"
#include "sim/servers.hpp"
#include "sim/truth.hpp"

namespace muster::sim {

// The part of a server that decides: what EngineThread does, with the same decisions about leading
// and the real pipeline, in turns that the program may be frozen in the middle of.
class SimEngine {
 public:
  using MakeCommand = std::function<engine::AnyCommand(RequestId)>;
  struct Parts {
    Store& store;
    Links& links;
    SimSeat& seat;
    const SimClock& clock;
    Truth& truth;
    std::function<void()> ended;  // this server no longer leads
  };

  SimEngine(World& world, Life life, std::string name, Parts parts);

  void Start();
  void Submit(engine::AnyCommand command);
  // `answer` is called once, unless the program ends first.
  void Ask(const MakeCommand& make, Servers::Answered answer);

  bool Leads() const { return pipeline_.Leading(); }

 private:
  MonoTime OwnNow() const { return parts_.clock.Read().mono; }
  void SetElected(bool elected);
  void TurnSoon();
  void Turn();
  void Act(bool may_act, MonoTime lead_until);
  void PlanNext(MonoTime wake);
  void KeepCampaigning();
  void MakeRoom(const std::string& why);
  void TryToLead();
  Result<> CheckClock();
  void StepDown(const std::string& why);
  void TakeCommands();
  void GiveUpWaiting();
  void Reply(engine::Reply reply);
  void CarryOut(const engine::ServerOrder& order);

  World& world_;
  Life life_;
  const std::string name_;
  Parts parts_;
  engine::Pipeline pipeline_;
  server::Leading leading_;
  bool campaigning_ = false;
  bool elected_ = false;
  std::deque<engine::AnyCommand> queue_;
  std::deque<std::pair<engine::Pipeline::CommitTicket, Result<>>> commits_;
  struct Waiting {
    Servers::Answered answer;
    MonoTime until;
  };
  std::map<RequestId, Waiting> waiting_;  // oldest first
  std::uint64_t next_request_ = 0;
  std::set<TaskKey> outside_;  // what it does itself just now
  std::uint64_t turn_ = 0;     // number of the latest planned turn
};

}  // namespace muster::sim
