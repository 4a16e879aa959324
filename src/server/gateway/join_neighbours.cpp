#include "server/gateway/join_neighbours.hpp"

#include <algorithm>

namespace muster::server {
namespace {

constexpr std::size_t kMostJoined = 64 << 10;  // as agents send at most

bool MayJoin(const LogChunk& chunk, const LogChunk& next) {
  return chunk.task == next.task && chunk.stream == next.stream && chunk.time == next.time &&
         chunk.offset + chunk.data.size() == next.offset &&
         chunk.data.size() + next.data.size() <= kMostJoined;
}

}  // namespace

void JoinNeighbours(std::vector<LogChunk>& chunks) {
  std::size_t last = 0;
  for (std::size_t i = 1; i < chunks.size(); ++i) {
    if (MayJoin(chunks[last], chunks[i]))
      chunks[last].data += chunks[i].data;
    else if (++last != i)
      chunks[last] = std::move(chunks[i]);
  }
  if (!chunks.empty()) chunks.resize(last + 1);
}

}  // namespace muster::server
