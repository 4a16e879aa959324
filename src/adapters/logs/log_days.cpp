#include "adapters/logs/log_days.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "adapters/logs/open_row.hpp"
#include "ports/log_store.hpp"

namespace muster::logs {
namespace {

constexpr std::uint64_t kMostOffset = std::numeric_limits<std::int64_t>::max();

// Of pieces that begin together the oldest day's comes first.
Result<FoundPieces> InOrder(LogDays& days, const PieceQuery& query) {
  auto found = days.Read(query);
  if (!found) return found;
  auto& pieces = found->pieces;
  std::vector<std::size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(pieces[i].offset, i); });
  std::vector<LogPiece> sorted;
  sorted.reserve(order.size());
  for (const auto i : order) sorted.push_back(std::move(pieces[i]));
  pieces = std::move(sorted);
  return found;
}

// Adds what the piece holds of [at, until), and moves `at` behind it.
Result<> AddChunks(const LogPiece& piece, const TaskKey& task, std::uint64_t until,
                   std::uint64_t& at, std::vector<LogChunk>& chunks) {
  auto held = ChunksOf(piece);
  if (!held) return Fail(held.error());
  for (auto& chunk : *held) {
    const std::uint64_t end = chunk.offset + chunk.data.size();
    if (end <= at) continue;
    if (chunk.offset >= until || chunks.size() == LogStore::kMostChunksRead) break;
    at = std::max(at, chunk.offset);
    if (at > chunk.offset || end > until)
      chunk.data = chunk.data.substr(at - chunk.offset, until - at);
    chunk.task = task;
    chunk.offset = at;
    at += chunk.data.size();
    chunks.push_back(std::move(chunk));
  }
  return {};
}

}  // namespace

Result<std::vector<LogChunk>> ReadChunks(LogDays& days, const TaskKey& task, std::uint64_t from,
                                         std::size_t limit) {
  from = std::min(from, kMostOffset);
  const std::uint64_t until = limit > kMostOffset - from ? kMostOffset : from + limit;
  std::vector<LogChunk> chunks;
  for (std::uint64_t at = from; at < until;) {
    const auto found = InOrder(days, {.task = task, .from = at, .until = until});
    if (!found) return Fail(found.error());
    for (const auto& piece : found->pieces) {
      if (piece.offset + piece.size <= at) continue;
      if (piece.offset >= found->until) break;
      if (auto added = AddChunks(piece, task, found->until, at, chunks); !added)
        return Fail(added.error());
      if (chunks.size() == LogStore::kMostChunksRead) return chunks;
    }
    at = std::max(at, found->until);
  }
  return chunks;
}

Result<std::uint64_t> DurableEndOf(LogDays& days, const TaskKey& task) {
  std::uint64_t end = 0;
  while (true) {
    const auto found = InOrder(
        days,
        {.task = task, .from = end, .until = kMostOffset, .with_data = false, .most = 10'000});
    if (!found) return Fail(found.error());
    for (const auto& piece : found->pieces) {
      if (piece.offset > end || piece.offset >= found->until) break;
      end = std::max(end, piece.offset + piece.size);
    }
    if (found->until == kMostOffset || end < found->until) return end;
  }
}

}  // namespace muster::logs
