#include "server/live/job_runs.hpp"

#include <variant>

namespace muster::server {

void JobRuns::Take(const Batch& committed) {
  base::Lock lock(mutex_);
  for (const auto& change : committed.changes)
    if (const auto* put = std::get_if<PutRun>(&change)) TakeRun(put->run);
}

void JobRuns::Forget() {
  base::Lock lock(mutex_);
  by_job_.clear();
  read_ = false;
  ++leadership_;
}

Result<> JobRuns::ReadEarlier(Store& store, const std::function<Result<>()>& goes_on) {
  constexpr std::size_t kPage = 100;  // a run may have 1,000 stages
  std::uint64_t leadership = 0;
  {
    base::Lock lock(mutex_);
    if (read_) return {};
    leadership = leadership_;
  }
  RunId before;
  WallTime since;
  for (std::size_t count = 0; count < kMostRead; count += kPage) {
    if (auto on = goes_on(); !on) return on;
    const auto page = store.ListRuns({}, before, kPage);
    if (!page) return Fail(page.error());
    base::Lock lock(mutex_);
    if (leadership != leadership_) return {};  // it is read again when somebody asks
    for (const auto& run : *page) {
      // What a commit brought meanwhile is newer than what was read.
      const auto known = by_job_.find(run.spec.job);
      if (known == by_job_.end() || known->second.run < run.id) TakeRun(run);
    }
    if (page->size() < kPage) {
      since = {};
      break;
    }
    before = page->back().id;
    since = page->back().created;
  }
  base::Lock lock(mutex_);
  if (leadership == leadership_) {
    read_ = true;
    since_ = since;
  }
  return {};
}

std::optional<JobRuns::Last> JobRuns::Find(const std::string& job) const {
  base::Lock lock(mutex_);
  const auto found = by_job_.find(job);
  return found == by_job_.end() ? std::nullopt : std::optional(found->second);
}

WallTime JobRuns::Since() const {
  base::Lock lock(mutex_);
  return since_;
}

void JobRuns::TakeRun(const Run& run) {
  if (run.spec.job.empty()) return;
  Last& last = by_job_[run.spec.job];
  if (run.id >= last.run)
    last = {.run = run.id,
            .state = run.state,
            .created = run.created,
            .ended = run.ended,
            .hosts = run.hosts,
            .counts = run.counts};
}

}  // namespace muster::server
