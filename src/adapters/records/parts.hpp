#pragma once

#include <map>
#include <string>
#include <string_view>

#include "records.pb.h"

#include "base/result.hpp"
#include "domain/run.hpp"

// Pieces that records share, on their way into protobuf messages and back.
namespace muster::records {

namespace wire = muster::records::v1;

Result<> Parse(std::string_view blob, google::protobuf::MessageLite* out);

// Serialized and packed (compress.hpp). kInternal for more than can be read back; then it was not
// serialized.
Result<std::string> PackMessage(const google::protobuf::MessageLite& message);

template <typename Enum>
Result<Enum> TakeEnum(std::uint32_t number, Enum last) {
  if (number > static_cast<std::uint32_t>(last))
    return Fail(ErrorCode::kInternal,
                "record: unknown value {}; was it written by a newer musterd?", number);
  return static_cast<Enum>(number);
}

template <typename Strings, typename Pairs>
void PutPairs(const Strings& strings, Pairs* out) {
  for (const auto& [key, value] : strings) {
    auto* pair = out->Add();
    pair->set_key(key);
    pair->set_value(value);
  }
}

template <typename Map = std::map<std::string, std::string>, typename Pairs>
Map TakePairs(const Pairs& pairs) {
  Map strings;
  for (const auto& pair : pairs) strings.emplace(pair.key(), pair.value());
  return strings;
}

void PutShare(const HostShare& share, wire::HostShare* out);
HostShare TakeShare(const wire::HostShare& in);

void PutWish(const StopWish& wish, wire::StopWish* out);
StopWish TakeWish(const wire::StopWish& in);

using WireNumbers = google::protobuf::RepeatedField<std::uint32_t>;
void PutCounts(const TaskCounts& counts, WireNumbers* out);
TaskCounts TakeCounts(const WireNumbers& in);

void PutLimits(const std::vector<KeyLimit>& limits,
               google::protobuf::RepeatedPtrField<wire::KeyLimit>* out);
std::vector<KeyLimit> TakeLimits(const google::protobuf::RepeatedPtrField<wire::KeyLimit>& in);

void PutStageSpec(const StageSpec& spec, wire::StageSpec* out);
Result<StageSpec> TakeStageSpec(const wire::StageSpec& in);

}  // namespace muster::records
