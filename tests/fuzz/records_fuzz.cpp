#include <cstddef>
#include <cstdint>
#include <string_view>

#include "adapters/records/compress.hpp"
#include "adapters/records/records.hpp"

// A damaged blob is refused; one that is taken is written again as it was understood.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const std::string_view blob(reinterpret_cast<const char*>(data), size);
  if (const auto host = records::Decode<Host>(blob)) {
    const auto again = records::Decode<Host>(*records::Encode(*host));
    MUSTER_CHECK(again && *again == *host);
  }
  if (const auto invite = records::Decode<Invite>(blob)) {
    const auto again = records::Decode<Invite>(*records::Encode(*invite));
    MUSTER_CHECK(again && *again == *invite);
  }
  if (const auto run = records::Decode<Run>(blob)) {
    const auto again = records::Encode(*run);
    MUSTER_CHECK(again && records::Decode<Run>(*again));
    MUSTER_CHECK(*records::Encode(*records::Decode<Run>(*again)) == *again);
  }
  if (const auto plan = records::Decode<RunSpec>(blob)) {
    const auto again = records::Decode<RunSpec>(*records::Encode(*plan));
    MUSTER_CHECK(again && again->stages == plan->stages && again->jobs.size() == plan->jobs.size());
  }
  if (const auto visit = records::Decode<StageVisit>(blob)) {
    const auto again = records::Decode<StageVisit>(*records::Encode(*visit));
    MUSTER_CHECK(again && *again == *visit);
  }
  if (const auto targets = records::Decode<Targets>(blob))
    MUSTER_CHECK(records::Decode<Targets>(*records::Encode(*targets)));
  if (const auto wish = records::Decode<StopWish>(blob))
    MUSTER_CHECK(records::Decode<StopWish>(*records::Encode(*wish)));
  TaskRecord task;
  if (records::DecodeTaskRest(blob, &task)) {
    TaskRecord again;
    MUSTER_CHECK(records::DecodeTaskRest(records::EncodeTaskRest(task), &again));
  }
  (void)records::Unpack(blob);
  return 0;
}
