#include "sim/sim_store.hpp"

namespace muster::sim {

void SimStore::Commit(std::shared_ptr<const Batch> batch, Term term, CommitNumber number,
                      CommitDone done) {
  const bool refuse = world_.Chance(mood_.refused);
  const bool lose_answer = world_.Chance(mood_.lost_answer);
  const bool lands_after_crash = world_.Chance(0.5);
  world_.After(world_.Delay(mood_.usual, mood_.rare), [=, alive = alive_, disk_store = store_,
                                                       &truth = truth_, life = truth_.Life()]() {
    if (!*alive && !lands_after_crash) return;
    if (life != truth.Life()) return;  // that disk is gone
    if (refuse) {
      if (*alive) done(Fail(ErrorCode::kUnavailable, "disk is full"));
      return;
    }
    const Fence before = *disk_store->ReadFence();
    Result<> written;
    disk_store->Commit(batch, term, number, [&](Result<> result) { written = std::move(result); });
    const Fence after = *disk_store->ReadFence();
    if (written && !(before == after)) truth.BatchWritten(*batch, term);
    if (!*alive) return;
    if (written && lose_answer)
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
    if (world_.Chance(mood_.refused)) return done(Fail(ErrorCode::kUnavailable, "disk is full"));
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
