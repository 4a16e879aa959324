#include "adapters/memory/memory_log_store.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "adapters/crypto/digest.hpp"
#include "domain/log_mark.hpp"

namespace muster {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

}  // namespace

void MemoryLogStore::Append(std::vector<LogChunk> chunks, Done done) {
  {
    base::Lock lock(mutex_);
    for (auto& chunk : chunks) {
      if (chunk.data.empty()) continue;
      auto& place = tasks_[chunk.task][chunk.offset];
      if (place.data.size() < chunk.data.size()) place = std::move(chunk);
    }
  }
  done({});
}

std::vector<LogChunk> MemoryLogStore::Cut(const TaskKey& task, std::uint64_t from,
                                          std::uint64_t until, std::size_t most) const {
  std::vector<LogChunk> cut;
  const auto found = tasks_.find(task);
  if (found == tasks_.end()) return cut;
  std::uint64_t at = from;
  for (const auto& [offset, chunk] : found->second) {
    if (offset >= until || cut.size() == most) break;
    const std::uint64_t end = offset + chunk.data.size();
    if (end <= at) continue;
    at = std::max(at, offset);
    LogChunk piece = chunk;
    piece.offset = at;
    piece.data = chunk.data.substr(at - offset, until - at);
    at += piece.data.size();
    cut.push_back(std::move(piece));
  }
  return cut;
}

Result<std::uint64_t> MemoryLogStore::DurableEnd(const TaskKey& task) {
  base::Lock lock(mutex_);
  const auto found = tasks_.find(task);
  std::uint64_t end = 0;
  if (found == tasks_.end()) return end;
  for (const auto& [offset, chunk] : found->second) {
    if (offset > end) break;
    end = std::max<std::uint64_t>(end, offset + chunk.data.size());
  }
  return end;
}

void MemoryLogStore::Finish(const TaskKey& task, LogTotals totals, MarkDone done) {
  std::vector<LogChunk> chunks;
  {
    base::Lock lock(mutex_);
    chunks = Cut(task, 0, kMost, SIZE_MAX);
  }
  crypto::Sha256Stream out;
  crypto::Sha256Stream err;
  std::uint64_t end = 0;
  for (const auto& chunk : chunks) {
    if (chunk.offset != end) break;
    (chunk.stream == Stream::kStdout ? out : err).Add(chunk.data);
    end += chunk.data.size();
  }
  done(MarkOf(totals, end, out.Digest(), err.Digest()));
}

Result<std::vector<LogChunk>> MemoryLogStore::Read(const TaskKey& task, std::uint64_t from,
                                                   std::size_t limit) {
  base::Lock lock(mutex_);
  return Cut(task, from, limit > kMost - from ? kMost : from + limit, kMostChunksRead);
}

void MemoryLogStore::DropDays(WallTime moment, DropDone done) {
  constexpr std::int64_t kDay = 24LL * 3600 * 1000;
  std::set<std::int64_t> days;
  {
    base::Lock lock(mutex_);
    for (auto& [task, output] : tasks_)
      std::erase_if(output, [&](const auto& item) {
        const std::int64_t day = item.second.time.ms / kDay;
        if ((day + 1) * kDay > moment.ms) return false;
        days.insert(day);
        return true;
      });
  }
  done(days.size());
}

std::shared_ptr<MemoryLogStore> MemoryLogStore::Copy() {
  auto copy = std::make_shared<MemoryLogStore>();
  base::Lock lock(mutex_);
  base::Lock copy_lock(copy->mutex_);
  copy->tasks_ = tasks_;
  return copy;
}

}  // namespace muster
