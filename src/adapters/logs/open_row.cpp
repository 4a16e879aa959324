#include "adapters/logs/open_row.hpp"

#include <algorithm>
#include <optional>

#include "adapters/records/compress.hpp"

namespace muster::logs {
namespace {

constexpr std::size_t kMostInRow = 64 << 10;  // packed
constexpr unsigned char kIsStderr = 1;
constexpr unsigned char kHasTime = 2;
constexpr unsigned kSizeShift = 2;
constexpr std::uint64_t kSizeFollows = 63;
// Five bytes of varint.
constexpr std::int64_t kMostStep = (std::int64_t{1} << 34) - 1;
// A full row, one more chunk, and its head.
constexpr std::size_t kMostUnpacked = kMostInRow + OpenRow::kMostInChunk + 16;

void PutVarint(std::uint64_t number, std::string& out) {
  for (; number > 0x7F; number >>= 7) out.push_back(static_cast<char>(number | 0x80));
  out.push_back(static_cast<char>(number));
}

std::optional<std::uint64_t> TakeVarint(std::string_view& in) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    number |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

// Times come from hosts and may be anything: a difference of any two must not overflow.
std::int64_t StepBetween(WallTime from, WallTime to) {
  std::int64_t step = 0;
  if (__builtin_sub_overflow(to.ms, from.ms, &step))
    step = to.ms < from.ms ? -kMostStep : kMostStep;
  return std::clamp(step, -kMostStep, kMostStep);
}

std::uint64_t ZigZag(std::int64_t step) {
  return (static_cast<std::uint64_t>(step) << 1) ^ static_cast<std::uint64_t>(step >> 63);
}
std::int64_t UnZigZag(std::uint64_t coded) {
  return static_cast<std::int64_t>(coded >> 1) ^ -static_cast<std::int64_t>(coded & 1);
}

Error Damaged() { return {ErrorCode::kInternal, "record: damaged packed output"}; }

// Takes one chunk off the front; `time` is that of the one before it.
std::optional<LogChunk> TakeChunk(std::string_view& in, WallTime time) {
  if (in.empty()) return std::nullopt;
  const auto head = static_cast<unsigned char>(in.front());
  in.remove_prefix(1);
  std::optional<std::uint64_t> size = head >> kSizeShift;
  if (*size == kSizeFollows) size = TakeVarint(in);
  const std::optional<std::uint64_t> step =
      (head & kHasTime) != 0 ? TakeVarint(in) : std::optional<std::uint64_t>(0);
  if (!size || !step || *size >= in.size()) return std::nullopt;
  if (__builtin_add_overflow(time.ms, UnZigZag(*step), &time.ms)) return std::nullopt;
  LogChunk chunk{.task = {},
                 .offset = 0,
                 .stream = (head & kIsStderr) != 0 ? Stream::kStderr : Stream::kStdout,
                 .time = time,
                 .data = std::string(in.substr(0, *size + 1))};
  in.remove_prefix(*size + 1);
  return chunk;
}

Result<std::vector<LogChunk>> UnpackChunks(const LogPiece& piece, std::string_view packed) {
  std::vector<LogChunk> chunks;
  std::uint64_t offset = piece.offset;
  WallTime time = piece.time;
  while (!packed.empty()) {
    auto chunk = TakeChunk(packed, time);
    if (!chunk) return Fail(Damaged());
    time = chunk->time;
    chunk->offset = offset;
    offset += chunk->data.size();
    chunks.push_back(std::move(*chunk));
  }
  if (offset != piece.offset + piece.size) return Fail(Damaged());
  return chunks;
}

}  // namespace

OpenRow::OpenRow(const LogChunk& chunk, std::size_t at, std::size_t size)
    : task_(chunk.task),
      offset_(chunk.offset + at),
      stream_(chunk.stream),
      time_(chunk.time),
      last_time_(chunk.time) {
  Put(chunk, at, size);
}

bool OpenRow::Add(const LogChunk& chunk, std::size_t at, std::size_t size) {
  if (chunk.offset + at != End() || packed_.size() + size > kMostInRow) return false;
  Put(chunk, at, size);
  return true;
}

void OpenRow::Put(const LogChunk& chunk, std::size_t at, std::size_t size) {
  const std::int64_t step = StepBetween(last_time_, chunk.time);
  const std::uint64_t less = size - 1;
  unsigned head = static_cast<unsigned>(std::min<std::uint64_t>(less, kSizeFollows)) << kSizeShift;
  if (chunk.stream == Stream::kStderr) head |= kIsStderr;
  if (step != 0) head |= kHasTime;
  packed_.push_back(static_cast<char>(head));
  if (less >= kSizeFollows) PutVarint(less, packed_);
  if (step != 0) PutVarint(ZigZag(step), packed_);
  packed_.append(chunk.data, at, size);
  last_time_.ms += step;
  size_ += size;
  ++chunks_;
}

LogPiece OpenRow::Piece() const {
  LogPiece piece{.task = task_,
                 .offset = offset_,
                 .stream = stream_,
                 .time = time_,
                 .size = size_,
                 .codec = Codec::kRaw,
                 .data = {}};
  if (chunks_ == 1) {
    const std::string_view data = std::string_view(packed_).substr(packed_.size() - size_);
    auto compressed = records::Compress(data);
    piece.codec = compressed ? Codec::kZstd : Codec::kRaw;
    piece.data = compressed ? std::move(*compressed) : std::string(data);
    return piece;
  }
  auto compressed = records::Compress(packed_);
  piece.codec = compressed ? Codec::kPackedZstd : Codec::kPacked;
  piece.data = compressed ? std::move(*compressed) : packed_;
  return piece;
}

Result<std::vector<LogChunk>> ChunksOf(const LogPiece& piece) {
  if (piece.codec == Codec::kPacked) return UnpackChunks(piece, piece.data);
  if (piece.codec == Codec::kPackedZstd) {
    const auto packed = records::Decompress(piece.data, kMostUnpacked);
    if (!packed) return Fail(packed.error());
    return UnpackChunks(piece, *packed);
  }
  auto data = DataOf(piece);
  if (!data) return Fail(data.error());
  std::vector<LogChunk> one;
  one.push_back({.task = {},
                 .offset = piece.offset,
                 .stream = piece.stream,
                 .time = piece.time,
                 .data = std::move(*data)});
  return one;
}

}  // namespace muster::logs
