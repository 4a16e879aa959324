#include "adapters/logs/log_piece.hpp"

#include "adapters/records/compress.hpp"

namespace muster::logs {

LogPiece PieceOf(const LogChunk& chunk, std::size_t at, std::size_t size) {
  const auto raw = std::string_view(chunk.data).substr(at, size);
  auto compressed = records::Compress(raw);
  return {.task = chunk.task,
          .offset = chunk.offset + at,
          .stream = chunk.stream,
          .time = chunk.time,
          .size = size,
          .codec = compressed ? Codec::kZstd : Codec::kRaw,
          .data = compressed ? std::move(*compressed) : std::string(raw)};
}

Result<std::string> DataOf(const LogPiece& piece) {
  const bool raw = piece.codec == Codec::kRaw;
  if (!raw && piece.codec != Codec::kZstd)
    return Fail(ErrorCode::kInternal, "record: output in form {}, which this musterd cannot read",
                static_cast<std::int64_t>(piece.codec));
  auto data = raw ? piece.data : records::Decompress(piece.data, kMostInPiece);
  if (data && data->size() != piece.size)
    return Fail(ErrorCode::kInternal, "record: a chunk of another size than it says");
  return data;
}

}  // namespace muster::logs
