#include "engine/pipeline.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace muster::engine {
namespace {

// Lost attempts of ended runs may hold keys: their rows say for how long.
Result<> ReadLost(Store& store, Snapshot& snapshot) {
  std::set<RunId> open;
  for (const auto& run : snapshot.runs) open.insert(run.run.id);
  std::vector<TaskKey> keys;
  for (const auto& hold : snapshot.holds)
    if (hold.task.visit && !open.contains(hold.task.run)) keys.push_back(hold.task);
  if (keys.empty()) return {};
  const auto rows = store.FindTasks(keys);
  if (!rows) return Fail(rows.error());
  for (const auto& row : rows->value)
    if (row) snapshot.lost.push_back(*row);
  return {};
}

// A row of a run has a part for each of its stages.
std::size_t WeightOf(const Change& change) {
  constexpr std::size_t kStagesOfAChange = 8;
  const auto* put = std::get_if<PutRun>(&change);
  return put == nullptr ? 1 : 1 + put->run.stages.size() / kStagesOfAChange;
}

}  // namespace

Pipeline::Pipeline(Store& store, Links& links, Listener listener, Settings settings)
    : store_(store), links_(links), listener_(std::move(listener)), settings_(settings) {}

Result<> Pipeline::Lead(Now now) {
  const auto fence = store_.TakeTerm();
  if (!fence) return Fail(fence.error());
  auto snapshot = store_.Load(fence->term);
  if (snapshot)
    if (auto read = ReadLost(store_, *snapshot); !read) return Fail(read.error());
  if (!snapshot) return Fail(snapshot.error());
  term_ = fence->term;
  durable_ = snapshot->fence.number;
  gathering_ = {};
  in_flight_.reset();
  stalled_.clear();
  engine_ = std::make_unique<Engine>(std::move(*snapshot), settings_.engine, now);
  engine_->LeadUntil(lead_until_);
  Release(engine_->Announce());
  Effects effects;
  engine_->Begin(now, GatheringNumber(), gathering_.changes, effects);
  Attach(std::move(effects));
  links_.BeginAnew(term_, engine_->state().cluster);
  return {};
}

void Pipeline::LeadUntil(MonoTime until) {
  lead_until_ = until;
  if (engine_) engine_->LeadUntil(until);
}

bool Pipeline::Ready() const {
  return engine_ && stalled_.empty() && gathering_.weight < settings_.most_changes;
}

CommitNumber Pipeline::GatheringNumber() const {
  return CommitNumber(durable_.value + (in_flight_ ? 2 : 1));
}

void Pipeline::Weigh() {
  for (; gathering_.weighed < gathering_.changes.size(); ++gathering_.weighed)
    gathering_.weight += WeightOf(gathering_.changes[gathering_.weighed]);
}

// Effects of a decision that changed nothing may still rest on what is not durable yet.
void Pipeline::Attach(Effects effects) {
  if (effects.Empty()) return;
  if (!gathering_.changes.empty())
    gathering_.effects.Append(std::move(effects));
  else if (in_flight_)
    in_flight_->effects.Append(std::move(effects));
  else
    Release(std::move(effects));
}

void Pipeline::Take(const AnyCommand& command, Now now) {
  Effects effects;
  engine_->Decide(command, now, GatheringNumber(), gathering_.changes, effects);
  Weigh();
  Attach(std::move(effects));
}

MonoTime Pipeline::Drive(Now now) {
  if (!engine_) return kNever;
  bool more = false;
  if (Ready()) {
    Effects effects;
    more = engine_->Continue(now, GatheringNumber(), gathering_.changes, effects);
    Weigh();
    Attach(std::move(effects));
  }
  if (!in_flight_)
    SendBatch();
  else if (in_flight_->answered && in_flight_->resend_at <= now.mono)
    Hand();
  if (!engine_) return kNever;
  if (in_flight_ && in_flight_->answered) return in_flight_->resend_at;
  if (!Ready()) return kNever;  // the commit's answer wakes us
  return more ? now.mono : engine_->NextWake();
}

void Pipeline::SendBatch() {
  Effects summary;
  engine_->Summarise(gathering_.changes.empty() ? durable_ : GatheringNumber(), summary);
  Attach(std::move(summary));
  if (gathering_.changes.empty()) return;
  auto batch = std::make_shared<const Batch>(Batch{std::move(gathering_.changes)});
  in_flight_ = InFlight{.number = CommitNumber(durable_.value + 1),
                        .batch = std::move(batch),
                        .effects = std::move(gathering_.effects),
                        .answered = false,
                        .resend_at = kNever};
  gathering_ = {};
  Hand();
}

void Pipeline::Hand() {
  in_flight_->answered = false;
  const CommitTicket ticket{epoch_, in_flight_->number};
  store_.Commit(in_flight_->batch, term_, ticket.number,
                [committed = listener_.committed, ticket](Result<> result) {
                  committed(ticket, std::move(result));
                });
}

void Pipeline::Committed(CommitTicket ticket, Result<> result, Now now) {
  if (!in_flight_ || ticket.epoch != epoch_ || in_flight_->number != ticket.number ||
      in_flight_->answered)
    return;
  if (!result) {
    const auto code = result.error().code;
    if (code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout) {
      stalled_ = result.error().message;
      in_flight_->answered = true;
      in_flight_->resend_at = now.mono + settings_.resend;
      return;
    }
    return Depose(result.error());
  }
  stalled_.clear();
  durable_ = ticket.number;
  Effects effects = std::move(in_flight_->effects);
  in_flight_.reset();
  Release(std::move(effects));
}

void Pipeline::Release(Effects effects) {
  if (!effects.news.empty()) listener_.news(std::move(effects.news));
  if (!effects.frames.empty()) links_.Send(std::move(effects.frames));
  for (const auto link : effects.closes) links_.Close(link);
  if (!effects.work.empty() && listener_.work) listener_.work(std::move(effects.work));
  for (auto& reply : effects.replies) listener_.reply(std::move(reply));
}

void Pipeline::Depose(const Error& why) {
  // Whoever waits for an answer is told that it did not come about; the store says the same.
  Effects lost = std::move(in_flight_->effects);
  lost.Append(std::move(gathering_.effects));
  StepDown();
  for (auto& reply : lost.replies)
    listener_.reply(
        {reply.request,
         Fail(ErrorCode::kUnavailable, "the server no longer leads: {}; try again", why.message)});
  listener_.deposed(why);
}

void Pipeline::StepDown() {
  ++epoch_;
  engine_.reset();
  gathering_ = {};
  in_flight_.reset();
  stalled_.clear();
}

}  // namespace muster::engine
