#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "domain/records.hpp"
#include "engine/effects.hpp"
#include "engine/state.hpp"

namespace muster::engine {

// One decision in the making: the memory it works on, the moment and the batch it belongs to, and
// what it has decided so far.
class Turn {
 public:
  Turn(State& memory, Now moment, CommitNumber batch, std::vector<Change>& out_changes,
       Effects& out_effects)
      : state(memory), now(moment), commit(batch), changes(out_changes), effects(out_effects) {}

  State& state;
  const Now now;
  const CommitNumber commit;  // number of the batch that will make this durable
  std::vector<Change>& changes;
  Effects& effects;

  void Put(Change change) {
    changes.push_back(std::move(change));
    ++things_;
  }
  // Only what the command itself says it is answered with.
  template <Answered C>
  void Answer(const C& command, Result<typename C::Answer> answer) {
    effects.replies.push_back(
        {command.caller.request,
         answer ? Result<AnyAnswer>(Pack(std::move(*answer))) : Fail(std::move(answer).error())});
  }
  // Adds an act to the audit trail. The longer form takes an entry with all that is to be said of
  // the act; who, when, number and hashes are filled in. `about`: hosts it is found by.
  void Audit(const Caller& caller, std::string act, std::string object, std::string detail,
             std::vector<HostId> about = {});
  void Audit(const Caller& caller, AuditEntry entry, std::vector<HostId> about = {});

  // The frame this decision sends to a link; everything for one link is joined in it.
  link::ServerFrame& FrameFor(LinkId link);

  void Tell(News news) { effects.news.push_back(std::move(news)); }
  void AskServer(ServerWork work) { effects.work.push_back(std::move(work)); }
  void TellRun(OpenRun& run) { state.runs.untold.insert(run.run.id); }

  // Puts a run among those that have something to do.
  void Wake(OpenRun& run) {
    if (std::exchange(run.working, true)) return;
    state.runs.work.Push(run.run.spec.priority, run.run.id);
  }

  bool Spent() const { return things_ >= state.options.most_things; }
  void Spend(std::size_t things = 1) { things_ += things; }

 private:
  std::size_t things_ = 0;
  std::unordered_map<LinkId, std::size_t> frames_;
};

}  // namespace muster::engine
