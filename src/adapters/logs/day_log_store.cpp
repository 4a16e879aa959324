#include "adapters/logs/day_log_store.hpp"

#include <algorithm>
#include <set>

#include "adapters/logs/log_days.hpp"
#include "adapters/logs/output_state.hpp"
#include "adapters/logs/row_writer.hpp"
#include "domain/log_mark.hpp"

namespace muster {
namespace {

constexpr std::size_t kStatesKept = 100'000;
constexpr std::size_t kMostGroupBytes = 8 << 20;
constexpr std::size_t kMostGroupJobs = 4096;
constexpr std::size_t kReadBackBytes = 1 << 20;

Result<LogMark> MarkOf(const LogTotals& totals, const logs::OutputState& state) {
  return muster::MarkOf(totals, state.End(), state.StdoutSha256(), state.StderrSha256());
}

}  // namespace

DayLogStore::DayLogStore(std::unique_ptr<logs::LogDays> days, const Clock& clock)
    : clock_(clock),
      days_(std::move(days)),
      states_(std::make_unique<logs::OutputStates>(kStatesKept)),
      thread_([this] { Loop(); }) {}

DayLogStore::~DayLogStore() {
  std::deque<Job> left;
  {
    base::Lock lock(queue_mutex_);
    closing_ = true;
    left.swap(jobs_);
  }
  work_.NotifyAll();
  if (thread_.joinable()) thread_.join();
  for (auto& job : left)
    std::visit([](auto& one) { one.done(Fail(ErrorCode::kUnavailable, "log store: closing")); },
               job);
}

void DayLogStore::Append(std::vector<LogChunk> chunks, Done done) {
  Post(AppendJob{.chunks = std::move(chunks), .done = std::move(done)});
}

void DayLogStore::Finish(const TaskKey& task, LogTotals totals, MarkDone done) {
  Post(FinishJob{.task = task, .totals = std::move(totals), .done = std::move(done)});
}

void DayLogStore::DropDays(WallTime moment, DropDone done) {
  Post(DropJob{.moment = moment, .done = std::move(done)});
}

Result<std::uint64_t> DayLogStore::DurableEnd(const TaskKey& task) {
  {
    base::Lock lock(state_mutex_);
    const auto* state = states_->Find(task);
    // With something past the end, what lies between may have gone to another server.
    if (state != nullptr && !state->stale && !state->ahead) return state->End();
  }
  return logs::DurableEndOf(*days_, task);
}

Result<std::vector<LogChunk>> DayLogStore::Read(const TaskKey& task, std::uint64_t from,
                                                std::size_t limit) {
  return logs::ReadChunks(*days_, task, from, limit);
}

void DayLogStore::Post(Job job) {
  {
    base::Lock lock(queue_mutex_);
    jobs_.push_back(std::move(job));
  }
  work_.NotifyOne();
}

base::Activity::View DayLogStore::Look() {
  auto view = activity_.Look();
  base::Lock lock(queue_mutex_);
  view.queued = jobs_.size();
  return view;
}

void DayLogStore::Loop() {
  activity_.Attach();
  while (true) {
    std::vector<Job> group;
    {
      base::Lock lock(queue_mutex_);
      while (!closing_ && jobs_.empty()) work_.Wait(queue_mutex_);
      if (closing_) return;
      group = TakeGroup();
    }
    const base::Activity::Work mark(activity_, "write output");
    Work(std::move(group));
  }
}

std::vector<DayLogStore::Job> DayLogStore::TakeGroup() {
  std::vector<Job> group;
  std::size_t bytes = 0;
  while (!jobs_.empty() && bytes < kMostGroupBytes && group.size() < kMostGroupJobs) {
    if (const auto* append = std::get_if<AppendJob>(&jobs_.front()))
      for (const auto& chunk : append->chunks) bytes += chunk.data.size();
    group.push_back(std::move(jobs_.front()));
    jobs_.pop_front();
  }
  return group;
}

// One transaction for all appends; then their answers; then the finishes, which so come after every
// append handed in before them.
void DayLogStore::Work(std::vector<Job> group) {
  const auto written = WriteGroup(group);
  for (const auto& job : group) {
    const auto* append = std::get_if<AppendJob>(&job);
    if (append == nullptr) continue;
    if (written) TakeIn(*append);
    append->done(written);
  }
  for (const auto& job : group) {
    if (const auto* finish = std::get_if<FinishJob>(&job)) finish->done(Judge(*finish));
    if (const auto* drop = std::get_if<DropJob>(&job)) drop->done(Drop(*drop));
  }
}

Result<std::size_t> DayLogStore::Drop(const DropJob& job) {
  auto dropped = days_->DropBefore(FormatTime(job.moment).substr(0, 10));
  if (dropped && *dropped == 0) return dropped;
  // What memory says of running tasks may rest on what is gone: it is read back when needed.
  Forget();
  return dropped;
}

void DayLogStore::Forget() {
  base::Lock lock(state_mutex_);
  states_ = std::make_unique<logs::OutputStates>(kStatesKept);
}

Result<> DayLogStore::WriteGroup(const std::vector<Job>& group) {
  const std::string today = FormatTime(clock_.Read().wall).substr(0, 10);
  while (true) {
    logs::RowWriter rows(today);
    for (const auto& job : group)
      if (const auto* append = std::get_if<AppendJob>(&job))
        for (const auto& chunk : append->chunks) Cut(chunk, rows);
    const auto& pieces = rows.Finish();
    if (pieces.empty()) return {};
    const auto written = days_->Write(today, pieces);
    if (!written)
      return Fail(written.error().code, "{}: write logs of {}: {}", days_->Name(), today,
                  written.error().message);
    if (!written->dropped) {
      MarkKnown(rows, written->added);
      return {};
    }
    // What was left out as known may be gone: all of it once more.
    Forget();
  }
}

// A piece that was there before this server heard of its task: there may be more.
void DayLogStore::MarkKnown(const logs::RowWriter& rows, const std::vector<bool>& added) {
  base::Lock lock(state_mutex_);
  for (std::size_t i = 0; i < added.size(); ++i)
    if (!added[i] && rows.OfNewTask(i)) states_->Take(rows.TaskOf(i)).first->stale = true;
  for (const auto& [task, last] : rows.LastRows())
    if (auto* state = states_->Find(task)) state->last_row = last;
}

void DayLogStore::Cut(const LogChunk& chunk, logs::RowWriter& rows) {
  base::Lock lock(state_mutex_);
  auto [state, made] = states_->Take(chunk.task);
  // A task we know nothing of whose output does not begin now: a restart, or long silence.
  if (made && chunk.offset > 0) state->stale = true;
  const std::uint64_t known = state->End();
  const std::size_t at =
      known > chunk.offset ? std::min<std::uint64_t>(known - chunk.offset, chunk.data.size()) : 0;
  rows.Add(chunk, at, made, state->last_row);
}

void DayLogStore::TakeIn(const AppendJob& job) {
  std::set<TaskKey> to_read;
  {
    base::Lock lock(state_mutex_);
    for (const auto& chunk : job.chunks) {
      auto [state, made] = states_->Take(chunk.task);
      // Pushed out of memory since it was written.
      if (made && chunk.offset > 0) state->stale = true;
      const std::uint64_t before = state->End();
      if (!state->stale) state->Extend(chunk);
      if (state->stale || (state->ahead && state->End() > before)) to_read.insert(chunk.task);
    }
  }
  for (const auto& task : to_read) GoOn(task);
}

// Takes in what is durable past the end that memory knows. What cannot be read back now is read
// when it is asked for.
void DayLogStore::GoOn(const TaskKey& task) {
  logs::OutputState more;
  {
    base::Lock lock(state_mutex_);
    const auto* state = states_->Find(task);
    if (state == nullptr) return;
    if (!state->stale) more = *state;
  }
  more.ahead = false;
  const auto read = ReadBack(task, more);
  base::Lock lock(state_mutex_);
  auto* state = states_->Find(task);
  if (read)
    *state = std::move(more);
  else
    state->stale = true;
}

// Goes on from where `state` ends with what is durable. Without the lock: only this thread changes
// what is remembered, and others need not wait for it.
Result<> DayLogStore::ReadBack(const TaskKey& task, logs::OutputState& state) {
  while (true) {
    auto chunks = logs::ReadChunks(*days_, task, state.End(), kReadBackBytes);
    if (!chunks) return Fail(chunks.error());
    const std::uint64_t before = state.End();
    for (const auto& chunk : *chunks) state.Extend(chunk);
    if (state.End() == before || state.ahead) return {};
  }
}

Result<LogMark> DayLogStore::Judge(const FinishJob& job) {
  logs::OutputState whole;
  std::uint64_t there = job.totals.bytes;  // and maybe more
  {
    base::Lock lock(state_mutex_);
    auto* state = states_->Find(job.task);
    // Most tasks say nothing; they must cost nothing.
    if (state == nullptr && job.totals.bytes == 0)
      return MarkOf(job.totals, 0, kEmptySha256, kEmptySha256);
    if (state != nullptr && !state->stale) {
      auto mark = MarkOf(job.totals, *state);
      // What had to be read once is kept, as it may be asked for again.
      if (mark && !state->read_back) states_->Drop(job.task);
      if (mark) return mark;
    }
    if (state != nullptr) there = std::max(there, state->End());
    if (state != nullptr && state->read_back) whole = *state->read_back;
  }
  // What memory says may be too little, or what another server wrote first may be there instead:
  // before saying no, look. What was read back stays as it is, so each byte is read once, however
  // often a node is wrong.
  if (whole.End() == 0 || whole.End() < there) {
    whole.ahead = false;
    if (auto read = ReadBack(job.task, whole); !read) return Fail(read.error());
  }
  auto mark = MarkOf(job.totals, whole);
  base::Lock lock(state_mutex_);
  auto* state = states_->Take(job.task).first;
  *state = whole;
  state->read_back = std::make_shared<const logs::OutputState>(std::move(whole));
  return mark;
}

}  // namespace muster
