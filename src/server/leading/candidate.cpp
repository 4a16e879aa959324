#include "server/leading/candidate.hpp"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

namespace muster::server {

Now Candidate::Time() const {
  const Now now = parts_.clock.Read();
  return judge_ == nullptr ? now : judge_->Hold(now);
}

std::string Candidate::CannotLead(bool leads) const {
  std::string why = judge_ == nullptr
                        ? ""
                        : judge_->Wrong(parts_.clock.Read(), parts_.coordinator.Members().size());
  if (why.empty() && pulse_ != nullptr && !leads) why = pulse_->Trouble();
  return why;
}

Result<> Candidate::Campaign() {
  auto campaigns = parts_.coordinator.Campaign(
      parts_.name, [set = parts_.set_elected] { set(true); },
      [set = parts_.set_elected] { set(false); });
  campaigning_ = campaigns.has_value();
  return campaigns;
}

// Leaves the election to the others for a while.
void Candidate::MakeRoom(const std::string& why) {
  if (why != trouble_) spdlog::warn("makes room for another leader: {}", why);
  StepDown(why);
  parts_.coordinator.Resign();
  campaigning_ = false;
  leading_.MadeRoom(Mono());
  parts_.set_elected(false);
}

// True while this server leaves the lead to others because of what it knows about itself.
bool Candidate::HoldsBack() {
  std::string why = CannotLead(parts_.pipeline.Leading());
  if (why.empty() && trouble_ == held_back_) trouble_.clear();
  held_back_ = std::move(why);
  if (held_back_.empty()) return false;
  if (campaigning_) MakeRoom(held_back_);
  trouble_ = held_back_;
  return true;
}

void Candidate::KeepCampaigning(bool standing_by, bool stopping) {
  if (HoldsBack()) return;
  if (standing_by && campaigning_ && (!parts_.pipeline.Leading() || parts_.pipeline.Idle()))
    return MakeRoom("the server stands by");
  if (campaigning_ || standing_by || stopping || Mono() < leading_.campaign_again()) return;
  if (const auto campaigns = Campaign(); !campaigns) {
    spdlog::error("cannot campaign: {}", campaigns.error().message);
    leading_.MadeRoom(Mono());
  }
}

void Candidate::TryToLead() {
  if (!leading_.TriesAt(Mono())) return;
  engine::Pipeline& pipeline = parts_.pipeline;
  auto leads = CheckClock();
  if (leads) leads = pipeline.Lead(Time());
  if (!leads) {
    // It is tried several times a second; the log need not say so each time.
    if (trouble_ != leads.error().message) spdlog::warn("cannot lead: {}", leads.error().message);
    trouble_ = leads.error().message;
    if (leading_.Failed(Mono(), parts_.coordinator.Members().size())) MakeRoom(trouble_);
    return;
  }
  leading_.Led(Mono());
  trouble_.clear();
  spdlog::info("leading term={} commit={} hosts={} open_runs={}", pipeline.term().value,
               pipeline.committed_number().value, pipeline.engine()->state().hosts.entries.size(),
               pipeline.engine()->state().runs.open.size());
}

Result<> Candidate::CheckClock() {
  const Now before = parts_.clock.Read();
  const auto there = parts_.store.ReadClock();
  const Now after = parts_.clock.Read();
  if (!there) return Fail(there.error());
  if (!*there) return {};
  if (judge_ != nullptr) judge_->StoreSaid(before, **there, after.mono);
  return Leading::CheckClock(before.wall, **there, after.wall);
}

void Candidate::StepDown(const std::string& why) {
  if (!parts_.pipeline.Leading()) return;
  spdlog::warn("no longer leads term={}: {}", parts_.pipeline.term().value, why);
  parts_.pipeline.StepDown();
  parts_.stepped_down(why);
}

void Candidate::WatchStalls() {
  const MonoTime now = Mono();
  const bool stalled = !parts_.pipeline.Stalled().empty();
  const MonoTime unanswered =
      parts_.pipeline.Leading() && pulse_ != nullptr ? pulse_->UnansweredSince() : kNever;
  if (!stalled && unanswered == kNever) {
    leading_.Stalls(now, false, 0);
    return;
  }
  const std::size_t members = parts_.coordinator.Members().size();
  if (leading_.Stalls(now, stalled, members))
    return GiveUp(std::string(parts_.pipeline.Stalled()));  // stepping down clears the original
  if (!Leading::Silent(now, unanswered, members)) return;
  const std::string why = pulse_->Trouble();
  GiveUp(why.empty() ? "the store did not answer for a while" : why);
}

void Candidate::GiveUp(const std::string& why) {
  MakeRoom(why);
  leading_.GaveUp(Mono());
}

MonoTime Candidate::SilentAt() const {
  const MonoTime unanswered = pulse_ == nullptr ? kNever : pulse_->UnansweredSince();
  if (!parts_.pipeline.Leading() || unanswered == kNever) return kNever;
  return std::max(unanswered + Leading::kMostSilent + Duration(1), Mono() + Leading::kRetry);
}

MonoTime Candidate::NextTry(bool elected, bool standing_by) const {
  MonoTime until = kNever;
  if (elected && !parts_.pipeline.Leading()) until = leading_.lead_again();
  if (!campaigning_ && !standing_by && held_back_.empty())
    until = std::min(until, leading_.campaign_again());
  return until;
}

std::string Candidate::WhoLeads() const {
  const std::string leader = parts_.coordinator.Leader();
  const std::string trouble = trouble_.empty() ? parts_.coordinator.Trouble() : trouble_;
  const std::string why = trouble.empty() ? "" : ": " + trouble;
  if (leader.empty() || leader == parts_.name) return "no leader yet" + why;
  return fmt::format("{} leads, not this server{}", leader, why);
}

}  // namespace muster::server
