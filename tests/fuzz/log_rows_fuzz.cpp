#include <cstddef>
#include <cstdint>
#include <string_view>

#include "adapters/logs/open_row.hpp"

using namespace muster;

namespace {

// Packs them into one row, as far as it has room.
void Repack(const std::vector<LogChunk>& chunks) {
  logs::OpenRow row(chunks.front(), 0, chunks.front().data.size());
  std::size_t taken = 1;
  for (; taken < chunks.size(); ++taken)
    if (!row.Add(chunks[taken], 0, chunks[taken].data.size())) break;
  const auto again = logs::ChunksOf(row.Piece());
  MUSTER_CHECK(again && again->size() == taken);
  for (std::size_t i = 0; i < taken; ++i)
    MUSTER_CHECK((*again)[i].offset == chunks[i].offset && (*again)[i].data == chunks[i].data &&
                 (*again)[i].stream == chunks[i].stream);
}

}  // namespace

// A row of a damaged log store: a byte for its form, two for its size, and its data. It is refused,
// or gives chunks that follow each other and are as long as the row says; those can be packed
// again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const logs::LogPiece piece{.task = {},
                             .offset = 1'000,
                             .stream = Stream::kStdout,
                             .time = {1'700'000'000'000},
                             .size = data[1] + std::uint64_t{256} * data[2],
                             .codec = static_cast<logs::Codec>(data[0]),
                             .data = {reinterpret_cast<const char*>(data) + 3, size - 3}};
  const auto chunks = logs::ChunksOf(piece);
  if (!chunks) {
    MUSTER_CHECK(chunks.error().code == ErrorCode::kInternal);
    return 0;
  }
  std::uint64_t at = piece.offset;
  bool small = !chunks->empty();
  for (const auto& chunk : *chunks) {
    MUSTER_CHECK(chunk.offset == at);
    at += chunk.data.size();
    small = small && !chunk.data.empty() && chunk.data.size() <= logs::OpenRow::kMostInChunk;
  }
  MUSTER_CHECK(at == piece.offset + piece.size);
  if (small) Repack(*chunks);
  return 0;
}
