#include "adapters/records/parts.hpp"

#include "adapters/records/compress.hpp"
#include "base/text.hpp"

namespace muster::records {

Result<> Parse(std::string_view blob, google::protobuf::MessageLite* out) {
  if (!out->ParseFromArray(blob.data(), static_cast<int>(blob.size())))
    return Fail(ErrorCode::kInternal, "record: {} bytes that are no {}", blob.size(),
                out->GetTypeName());
  return {};
}

Result<std::string> PackMessage(const google::protobuf::MessageLite& message) {
  const std::size_t bytes = message.ByteSizeLong();
  if (bytes > kMostPacked)
    return Fail(ErrorCode::kInternal, "record: a {} of {} is more than can be read back ({})",
                message.GetTypeName(), FormatSize(bytes), FormatSize(kMostPacked));
  return Pack(message.SerializeAsString());
}

void PutShare(const HostShare& share, wire::HostShare* out) {
  out->set_number(share.number);
  out->set_percent(share.percent);
}

HostShare TakeShare(const wire::HostShare& in) {
  return {.number = in.number(), .percent = in.percent()};
}

void PutWish(const StopWish& wish, wire::StopWish* out) {
  out->set_by(wish.by);
  out->set_at_ms(wish.at.ms);
  out->set_reason(wish.reason);
  out->set_grace_ms(wish.grace.count());
}

StopWish TakeWish(const wire::StopWish& in) {
  return {
      .by = in.by(), .at = {in.at_ms()}, .reason = in.reason(), .grace = Duration(in.grace_ms())};
}

void PutCounts(const TaskCounts& counts, WireNumbers* out) {
  if (counts == TaskCounts()) return;
  for (const auto count : counts.by_state) out->Add(count);
}

TaskCounts TakeCounts(const WireNumbers& in) {
  TaskCounts counts;
  for (int i = 0; i < in.size() && i < static_cast<int>(kTaskStates); ++i)
    counts.by_state[static_cast<std::size_t>(i)] = in[i];
  return counts;
}

void PutLimits(const std::vector<KeyLimit>& limits,
               google::protobuf::RepeatedPtrField<wire::KeyLimit>* out) {
  for (const auto& limit : limits) {
    auto* item = out->Add();
    item->set_key(limit.key);
    item->set_max(limit.max);
  }
}

std::vector<KeyLimit> TakeLimits(const google::protobuf::RepeatedPtrField<wire::KeyLimit>& in) {
  std::vector<KeyLimit> limits;
  for (const auto& item : in) limits.push_back({.key = item.key(), .max = item.max()});
  return limits;
}

}  // namespace muster::records
