#include "adapters/sqlite/sqlite_log_store.hpp"

#include <algorithm>
#include <set>

#include "adapters/records/compress.hpp"
#include "adapters/sqlite/checkpointer.hpp"
#include "adapters/sqlite/database.hpp"
#include "adapters/sqlite/log_days.hpp"
#include "adapters/sqlite/output_state.hpp"
#include "adapters/sqlite/schema.hpp"
#include "domain/log_mark.hpp"

namespace muster {
namespace {

constexpr std::size_t kStatesKept = 100'000;
constexpr std::size_t kMostGroupBytes = 8 << 20;
constexpr std::size_t kMostGroupJobs = 4096;
constexpr std::size_t kReadBackBytes = 1 << 20;

// Of two chunks that begin together the longer one stays: no byte that came is ever lost.
constexpr const char* kPutChunk = R"(
  INSERT INTO chunk (run, visit, ordinal, host, attempt, offset, stream, time, size, codec, data)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET stream = excluded.stream, time = excluded.time, size = excluded.size,
                            codec = excluded.codec, data = excluded.data
  WHERE excluded.size > size)";

}  // namespace

Result<std::unique_ptr<SqliteLogStore>> SqliteLogStore::Open(const std::filesystem::path& folder,
                                                             const Clock& clock) {
  std::unique_ptr<SqliteLogStore> store(new SqliteLogStore(folder, clock));
  if (auto listed = store->days_->List(); !listed) return Fail(listed.error());
  store->thread_ = std::thread([raw = store.get()] { raw->Loop(); });
  return store;
}

SqliteLogStore::SqliteLogStore(const std::filesystem::path& folder, const Clock& clock)
    : clock_(clock),
      days_(std::make_unique<sqlite::LogDays>(folder / "logs")),
      states_(std::make_unique<sqlite::OutputStates>(kStatesKept)) {}

SqliteLogStore::~SqliteLogStore() {
  std::deque<Job> left;
  {
    base::Lock lock(queue_mutex_);
    closing_ = true;
    left.swap(jobs_);
  }
  work_.NotifyAll();
  if (thread_.joinable()) thread_.join();
  for (auto& job : left)
    std::visit([](auto& one) { one.done(Fail(ErrorCode::kUnavailable, "sqlite: closing")); }, job);
}

void SqliteLogStore::Append(std::vector<LogChunk> chunks, Done done) {
  Post(AppendJob{.chunks = std::move(chunks), .done = std::move(done)});
}

void SqliteLogStore::Finish(const TaskKey& task, LogTotals totals, MarkDone done) {
  Post(FinishJob{.task = task, .totals = std::move(totals), .done = std::move(done)});
}

void SqliteLogStore::DropDays(WallTime moment, DropDone done) {
  Post(DropJob{.moment = moment, .done = std::move(done)});
}

Result<std::uint64_t> SqliteLogStore::DurableEnd(const TaskKey& task) {
  {
    base::Lock lock(state_mutex_);
    const auto* state = states_->Find(task);
    if (state != nullptr && !state->stale) return state->End();
  }
  return days_->DurableEnd(task);
}

Result<std::vector<LogChunk>> SqliteLogStore::Read(const TaskKey& task, std::uint64_t from,
                                                   std::size_t limit) {
  return days_->Read(task, from, limit);
}

void SqliteLogStore::Post(Job job) {
  {
    base::Lock lock(queue_mutex_);
    jobs_.push_back(std::move(job));
  }
  work_.NotifyOne();
}

base::Activity::View SqliteLogStore::Look() {
  auto view = activity_.Look();
  base::Lock lock(queue_mutex_);
  view.queued = jobs_.size();
  return view;
}

void SqliteLogStore::Loop() {
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

std::vector<SqliteLogStore::Job> SqliteLogStore::TakeGroup() {
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
void SqliteLogStore::Work(std::vector<Job> group) {
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

Result<std::size_t> SqliteLogStore::Drop(const DropJob& job) {
  const std::string first_kept = FormatTime(job.moment).substr(0, 10);
  // The file of a silent month is still open for the next byte.
  if (database_ && today_ < first_kept) CloseToday();
  auto dropped = days_->DropBefore(first_kept);
  if (dropped && *dropped == 0) return dropped;
  // What memory says of running tasks may rest on what is gone: it is read back when needed.
  base::Lock lock(state_mutex_);
  states_ = std::make_unique<sqlite::OutputStates>(kStatesKept);
  return dropped;
}

Result<> SqliteLogStore::WriteGroup(const std::vector<Job>& group) {
  const bool any = std::ranges::any_of(
      group, [](const Job& job) { return std::holds_alternative<AppendJob>(job); });
  if (!any) return {};
  const auto write = [&]() -> Result<> {
    if (auto opened = OpenToday(); !opened) return opened;
    if (auto begun = database_->Execute("BEGIN IMMEDIATE"); !begun) return begun;
    for (const auto& job : group) {
      const auto* append = std::get_if<AppendJob>(&job);
      if (append == nullptr) continue;
      for (const auto& chunk : append->chunks)
        if (auto written = WriteChunk(chunk); !written) return written;
    }
    auto ended = database_->Execute("COMMIT");
    if (!ended && sqlite::OutcomeIsOpen(database_->Handle()))
      return Fail(ErrorCode::kTimeout, "{}", ended.error().message);
    return ended;
  };
  auto written = write();
  if (written) return {};
  if (database_) database_->Rollback();
  return Fail(written.error().code, "sqlite: write logs of {}: {}", today_,
              written.error().message);
}

Result<> SqliteLogStore::WriteChunk(const LogChunk& chunk) {
  std::uint64_t known = 0;
  bool fresh = false;
  {
    base::Lock lock(state_mutex_);
    auto [state, made] = states_->Take(chunk.task);
    known = state->End();
    fresh = made;
    // A task we know nothing of whose output does not begin now: a restart, or long silence.
    if (made && chunk.offset > 0) state->stale = true;
  }
  std::size_t at =
      known > chunk.offset ? std::min<std::uint64_t>(known - chunk.offset, chunk.data.size()) : 0;
  while (at < chunk.data.size()) {
    const std::size_t size = std::min(chunk.data.size() - at, sqlite::kMostInChunk);
    auto added = WritePiece(chunk, at, size);
    if (!added) return Fail(added.error());
    at += size;
    if (*added || !fresh) continue;
    base::Lock lock(state_mutex_);
    states_->Take(chunk.task).first->stale = true;
  }
  return {};
}

// False when the piece was there already.
Result<bool> SqliteLogStore::WritePiece(const LogChunk& chunk, std::size_t at, std::size_t size) {
  const auto raw = std::string_view(chunk.data).substr(at, size);
  const auto compressed = records::Compress(raw);
  const auto codec = compressed ? sqlite::ChunkCodec::kZstd : sqlite::ChunkCodec::kRaw;
  const TaskKey& task = chunk.task;
  put_chunk_->Id(task.run.value).Int(task.visit.value).Int(task.ordinal).Id(task.host.value);
  put_chunk_->Int(task.attempt.value).Id(chunk.offset + at);
  put_chunk_->Int(static_cast<std::int64_t>(chunk.stream)).Int(chunk.time.ms).Id(size);
  put_chunk_->Int(static_cast<std::int64_t>(codec));
  put_chunk_->Blob(compressed ? std::string_view(*compressed) : raw);
  if (auto put = put_chunk_->Run(); !put) return Fail(put.error());
  return database_->Changes() > 0;
}

Result<> SqliteLogStore::OpenToday() {
  const std::string today = FormatTime(clock_.Read().wall).substr(0, 10);
  if (database_ && today == today_) return {};
  CloseToday();
  const auto file = days_->FileOf(today);
  auto opened = sqlite::Database::Open(file, sqlite::Database::Mode::kReadWrite);
  if (!opened) return Fail(opened.error());
  if (auto made = sqlite::MakeLogTables(**opened); !made) return made;
  auto put_chunk = (*opened)->Prepare(kPutChunk);
  if (!put_chunk) return Fail(put_chunk.error());
  database_ = std::move(*opened);
  put_chunk_ = *put_chunk;
  checkpointer_ = std::make_unique<sqlite::Checkpointer>(file);
  database_->OnWal([this](int pages) { checkpointer_->Tell(pages); });
  today_ = today;
  days_->Add(today);
  return {};
}

void SqliteLogStore::CloseToday() {
  put_chunk_ = nullptr;
  database_.reset();
  checkpointer_.reset();
}

void SqliteLogStore::TakeIn(const AppendJob& job) {
  base::Lock lock(state_mutex_);
  std::set<TaskKey> to_read;
  for (const auto& chunk : job.chunks) {
    days_->Saw(today_, chunk.task.run);
    auto [state, made] = states_->Take(chunk.task);
    // Pushed out of memory since it was written.
    if (made && chunk.offset > 0) state->stale = true;
    const std::uint64_t before = state->End();
    if (!state->stale) state->Extend(chunk);
    if (state->stale || (state->ahead && state->End() > before)) to_read.insert(chunk.task);
  }
  for (const auto& task : to_read) {
    auto* state = states_->Find(task);
    if (state == nullptr) continue;
    sqlite::OutputState more = state->stale ? sqlite::OutputState() : *state;
    more.ahead = false;
    // What cannot be read back now is read when it is asked for.
    if (ReadBack(task, more))
      *state = std::move(more);
    else
      state->stale = true;
  }
}

// Goes on from where `state` ends with what is durable.
Result<> SqliteLogStore::ReadBack(const TaskKey& task, sqlite::OutputState& state) {
  while (true) {
    auto chunks = days_->Read(task, state.End(), kReadBackBytes);
    if (!chunks) return Fail(chunks.error());
    const std::uint64_t before = state.End();
    for (const auto& chunk : *chunks) state.Extend(chunk);
    if (state.End() == before || state.ahead) return {};
  }
}

Result<LogMark> SqliteLogStore::Judge(const FinishJob& job) {
  base::Lock lock(state_mutex_);
  auto* state = states_->Find(job.task);
  // Most tasks say nothing; they must cost nothing.
  if (state == nullptr && job.totals.bytes == 0)
    return MarkOf(job.totals, 0, kEmptySha256, kEmptySha256);
  if (state != nullptr && !state->stale) {
    auto mark = MarkOf(job.totals, state->End(), state->StdoutSha256(), state->StderrSha256());
    if (mark) {
      states_->Drop(job.task);
      return mark;
    }
  }
  // What memory says may be too little, never too much: before saying no, look.
  sqlite::OutputState whole;
  if (auto read = ReadBack(job.task, whole); !read) return Fail(read.error());
  auto mark = MarkOf(job.totals, whole.End(), whole.StdoutSha256(), whole.StderrSha256());
  if (mark)
    states_->Drop(job.task);
  else
    *states_->Take(job.task).first = std::move(whole);
  return mark;
}

}  // namespace muster
