#include "adapters/records/wire_values.hpp"

#include <limits>

#include "domain/log.hpp"
#include "link/codec/codec.hpp"

namespace muster::records {
namespace {

constexpr std::string_view kOfNothing("\0", 1);

}  // namespace

void Encoding<Ordinals>::Put(WireWriter& out, std::uint32_t field, const Ordinals& set) {
  const std::size_t begun = out.Begin(field);
  std::uint32_t at = 0;
  for (const auto& [first, last] : set.Ranges()) {
    out.Packed(first - at);
    out.Packed(last - first);
    at = last;
  }
  out.End(begun);
}

Result<> Encoding<Ordinals>::Take(const WireReader& in, Ordinals& set) {
  const auto bytes = in.Bytes();
  if (!bytes) return Fail(bytes.error());
  std::vector<Ordinals::Range> ranges;
  std::uint64_t at = 0;
  for (std::string_view packed = *bytes; !packed.empty();) {
    const auto gap = TakePacked(packed);
    const auto size = gap ? TakePacked(packed) : gap;
    if (!size) return Fail(size.error());
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
    if (*gap > kMost || *size > kMost || at + *gap + *size > kMost)
      return Fail(ErrorCode::kInternal, "record: an ordinal of more than 32 bits");
    const std::uint64_t first = at + *gap;
    at = first + *size;
    ranges.emplace_back(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(at));
  }
  auto read = Ordinals::OfRanges(std::move(ranges));
  if (!read) return Fail(ErrorCode::kInternal, "record: {}", read.error().message);
  set = std::move(*read);
  return {};
}

void Encoding<TaskCounts>::Put(WireWriter& out, std::uint32_t field, const TaskCounts& counts) {
  const std::size_t begun = out.Begin(field);
  for (const auto count : counts.by_state) out.Packed(count);
  out.End(begun);
}

Result<> Encoding<TaskCounts>::Take(const WireReader& in, TaskCounts& counts) {
  const auto bytes = in.Bytes();
  if (!bytes) return Fail(bytes.error());
  std::size_t state = 0;
  for (std::string_view packed = *bytes; !packed.empty(); ++state) {
    const auto count = TakePacked(packed);
    if (!count) return Fail(count.error());
    if (state < counts.by_state.size()) counts.by_state[state] = static_cast<std::uint32_t>(*count);
  }
  return {};
}

void Encoding<TaskEnd>::Put(WireWriter& out, std::uint32_t field, const TaskEnd& end) {
  out.Bytes(field, link::EncodeTaskEnd(end));
}

Result<> Encoding<TaskEnd>::Take(const WireReader& in, TaskEnd& end) {
  const auto bytes = in.Bytes();
  if (!bytes) return Fail(bytes.error());
  auto read = link::DecodeTaskEnd(*bytes);
  if (!read) return Fail(ErrorCode::kInternal, "record: {}", read.error().message);
  end = std::move(*read);
  return {};
}

void Encoding<std::shared_ptr<const Command>>::Put(WireWriter& out, std::uint32_t field,
                                                   const std::shared_ptr<const Command>& command) {
  out.Bytes(field, link::EncodeCommand(*command));
}

Result<> Encoding<std::shared_ptr<const Command>>::Take(const WireReader& in,
                                                        std::shared_ptr<const Command>& command) {
  const auto bytes = in.Bytes();
  if (!bytes) return Fail(bytes.error());
  auto read = link::DecodeCommand(*bytes);
  if (!read) return Fail(ErrorCode::kInternal, "record: {}", read.error().message);
  command = std::make_shared<const Command>(std::move(*read));
  return {};
}

std::string_view ShortHash(const std::string& hash) {
  return hash == kEmptySha256 ? kOfNothing : std::string_view(hash);
}

std::string WholeHash(std::string_view written) {
  return std::string(written == kOfNothing ? std::string_view(kEmptySha256) : written);
}

}  // namespace muster::records
