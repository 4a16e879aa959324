#include "adapters/logs/log_days.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace muster::logs {
namespace {

constexpr std::uint64_t kMostOffset = std::numeric_limits<std::int64_t>::max();

// Those that hold something from `from` on. Of pieces that begin together the oldest day's comes
// first.
Result<std::vector<LogPiece>> PiecesFrom(LogDays& days, const TaskKey& task, std::uint64_t from,
                                         std::uint64_t until, bool with_data) {
  const std::int64_t after =
      from < kMostInPiece ? -1 : static_cast<std::int64_t>(from - kMostInPiece);
  auto pieces = days.Read(task, after, until, with_data);
  if (!pieces) return pieces;
  std::erase_if(*pieces, [&](const LogPiece& piece) { return piece.offset + piece.size <= from; });
  std::vector<std::size_t> order(pieces->size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair((*pieces)[i].offset, i); });
  std::vector<LogPiece> sorted;
  sorted.reserve(order.size());
  for (const auto i : order) sorted.push_back(std::move((*pieces)[i]));
  return sorted;
}

}  // namespace

Result<std::vector<LogChunk>> ReadChunks(LogDays& days, const TaskKey& task, std::uint64_t from,
                                         std::size_t limit) {
  from = std::min(from, kMostOffset);
  const std::uint64_t until = limit > kMostOffset - from ? kMostOffset : from + limit;
  auto pieces = PiecesFrom(days, task, from, until, true);
  if (!pieces) return Fail(pieces.error());
  std::vector<LogChunk> chunks;
  std::uint64_t at = from;
  for (const auto& piece : *pieces) {
    if (piece.offset + piece.size <= at) continue;
    auto data = DataOf(piece);
    if (!data) return Fail(data.error());
    at = std::max(at, piece.offset);
    chunks.push_back({.task = task,
                      .offset = at,
                      .stream = piece.stream,
                      .time = piece.time,
                      .data = data->substr(at - piece.offset, until - at)});
    at += chunks.back().data.size();
    if (at >= until) break;
  }
  return chunks;
}

Result<std::uint64_t> DurableEndOf(LogDays& days, const TaskKey& task) {
  auto pieces = PiecesFrom(days, task, 0, kMostOffset, false);
  if (!pieces) return Fail(pieces.error());
  std::uint64_t end = 0;
  for (const auto& piece : *pieces) {
    if (piece.offset > end) break;
    end = std::max(end, piece.offset + piece.size);
  }
  return end;
}

}  // namespace muster::logs
