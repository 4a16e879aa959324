#include "sim/sim_store.hpp"

namespace muster::sim {

namespace {

std::unexpected<Error> CutOff() {
  return Fail(ErrorCode::kUnavailable, "the store is out of reach");
}

}  // namespace

Result<Fence> SimStore::TakeTerm() {
  if (mood_.cut) return CutOff();
  auto fence = ForwardingStore::TakeTerm();
  if (hanging_ != nullptr)
    for (auto& land : std::exchange(*hanging_, {})) world_.After(world_.Between(0, 4), land);
  return fence;
}

Result<Snapshot> SimStore::Load(Term term) {
  if (mood_.cut) return CutOff();
  return ForwardingStore::Load(term);
}

Result<std::optional<WallTime>> SimStore::ReadClock() {
  if (mood_.cut) return CutOff();
  if (!wall_offset_) return std::optional<WallTime>();
  return std::optional(WallTime{world_.Now() + *wall_offset_});
}

Result<ReadAt<std::vector<std::optional<TaskRecord>>>> SimStore::FindTasks(
    const std::vector<TaskKey>& keys) {
  if (mood_.cut) return CutOff();
  return ForwardingStore::FindTasks(keys);
}

void SimStore::Land(const std::shared_ptr<MemoryStore>& store, Truth& truth,
                    const std::shared_ptr<const Batch>& batch, Term term, CommitNumber number,
                    Result<>& written) {
  const Fence before = *store->ReadFence();
  store->Commit(batch, term, number, [&](Result<> result) { written = std::move(result); });
  if (written && !(before == *store->ReadFence())) truth.BatchWritten(*batch, term);
}

void SimStore::Commit(std::shared_ptr<const Batch> batch, Term term, CommitNumber number,
                      CommitDone done) {
  const bool refuse = world_.Chance(mood_.refused);
  const bool lose_answer = world_.Chance(mood_.lost_answer);
  const bool lands_after_crash = world_.Chance(0.5);
  const bool vanishes = mood_.vanished > 0 && world_.Chance(mood_.vanished);
  const std::int64_t late =
      mood_.late > 0 && world_.Chance(mood_.late) ? world_.Between(1, 12'000) : 0;
  world_.After(world_.Delay(mood_.usual, mood_.rare),
               [=, alive = alive_, disk_store = store_, hanging = hanging_, hangs = hangs_,
                &world = world_, &mood = mood_, &truth = truth_, life = truth_.Life()]() {
                 if (!*alive && !lands_after_crash) return;
                 if (life != truth.Life()) return;  // that disk is gone
                 if (refuse || mood.cut) {
                   if (*alive) done(Fail(ErrorCode::kUnavailable, "disk is full"));
                   return;
                 }
                 Result<> written;
                 if (*hangs) {
                   if (*alive) done(Fail(ErrorCode::kTimeout, "a batch before it hangs"));
                   return;
                 }
                 const auto land_late = [=, &truth, landed = std::make_shared<bool>(false)] {
                   if (std::exchange(*landed, true)) return;
                   *hangs = false;
                   Result<> nobody_hears;
                   Land(disk_store, truth, batch, term, number, nobody_hears);
                 };
                 if (late > 0 && hanging != nullptr && late % 2 == 0) {
                   *hangs = true;
                   hanging->push_back(land_late);
                 }
                 if (late > 0)
                   world.After(late, land_late);
                 else if (!vanishes)
                   Land(disk_store, truth, batch, term, number, written);
                 if (!*alive) return;
                 if (written && (lose_answer || vanishes || late > 0))
                   done(Fail(ErrorCode::kTimeout, "the answer was lost"));
                 else
                   done(std::move(written));
               });
}

void SimLogStore::Enqueue(std::function<void()> work) {
  queue_.push_back(std::move(work));
  if (!busy_) Next();
}

void SimLogStore::Next() {
  if (queue_.empty()) {
    busy_ = false;
    return;
  }
  busy_ = true;
  world_.After(world_.Delay(mood_.usual, mood_.rare), [this, alive = alive_] {
    if (!*alive) return;
    auto work = std::move(queue_.front());
    queue_.pop_front();
    work();
    if (*alive) Next();
  });
}

void SimLogStore::Append(std::vector<LogChunk> chunks, Done done) {
  Enqueue([this, chunks = std::move(chunks), done = std::move(done)]() mutable {
    if (mood_.cut || world_.Chance(mood_.refused))
      return done(Fail(ErrorCode::kUnavailable, "disk is full"));
    disk_->Append(std::move(chunks), std::move(done));
  });
}

void SimLogStore::Finish(const TaskKey& task, LogTotals totals, MarkDone done) {
  if (totals.bytes == 0) return disk_->Finish(task, std::move(totals), std::move(done));
  Enqueue([this, task, totals = std::move(totals), done = std::move(done)]() mutable {
    disk_->Finish(task, std::move(totals), std::move(done));
  });
}

}  // namespace muster::sim
