#include <cstddef>
#include <cstdint>
#include <string_view>

#include "adapters/records/compress.hpp"
#include "adapters/records/records.hpp"

// A damaged blob is refused; one that is taken is written again as it was understood.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const std::string_view blob(reinterpret_cast<const char*>(data), size);
  if (const auto host = records::DecodeHost(blob)) {
    const auto again = records::DecodeHost(records::EncodeHost(*host));
    MUSTER_CHECK(again && *again == *host);
  }
  if (const auto invite = records::DecodeInvite(blob)) {
    const auto again = records::DecodeInvite(records::EncodeInvite(*invite));
    MUSTER_CHECK(again && *again == *invite);
  }
  if (const auto run = records::DecodeRun(blob)) {
    MUSTER_CHECK(records::DecodeRun(*records::EncodeRun(*run)));
    const auto plan = records::DecodePlan(*records::EncodePlan(run->spec));
    MUSTER_CHECK(plan && plan->stages == run->spec.stages);
  }
  if (const auto plan = records::DecodePlan(blob)) {
    const auto again = records::DecodePlan(*records::EncodePlan(*plan));
    MUSTER_CHECK(again && again->stages == plan->stages && again->jobs.size() == plan->jobs.size());
  }
  if (const auto visit = records::DecodeVisit(blob)) {
    const auto again = records::DecodeVisit(*records::EncodeVisit(*visit));
    MUSTER_CHECK(again && *again == *visit);
  }
  if (const auto targets = records::DecodeTargets(blob))
    MUSTER_CHECK(records::DecodeTargets(*records::EncodeTargets(**targets)));
  if (const auto wish = records::DecodeWish(blob))
    MUSTER_CHECK(records::DecodeWish(records::EncodeWish(*wish)));
  TaskRecord task;
  if (records::DecodeTaskRest(blob, &task)) {
    TaskRecord again;
    MUSTER_CHECK(records::DecodeTaskRest(records::EncodeTaskRest(task), &again));
  }
  (void)records::Unpack(blob);
  return 0;
}
