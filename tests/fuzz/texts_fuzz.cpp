#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/instant.hpp"
#include "base/text.hpp"
#include "domain/batches.hpp"
#include "domain/host.hpp"
#include "domain/host_ranges.hpp"
#include "domain/ids.hpp"
#include "domain/join_token.hpp"

// Small texts that people and files bring: what is understood is written and understood again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto duration = ParseDuration(text)) {
    const auto again = ParseDuration(FormatDuration(*duration));
    MUSTER_CHECK(again && *again == *duration && *duration >= Duration(0));
  }
  if (const auto time = ParseTime(text)) MUSTER_CHECK(ParseTime(FormatTime(time)) == time);
  (void)ParseSize(text);
  if (const auto token = ParseJoinToken(text)) MUSTER_CHECK(FormatJoinToken(*token) == text);
  if (const auto run = ParseRunId(text)) MUSTER_CHECK(ParseRunId(FormatRunId(*run)) == *run);
  if (const auto bytes = FromHex(text)) MUSTER_CHECK(FromHex(ToHex(*bytes)) == *bytes);
  if (const auto bytes = FromBase64(text)) MUSTER_CHECK(FromBase64(ToBase64(*bytes)) == *bytes);
  MUSTER_CHECK(FromBase64(ToBase64(text)) == text);
  (void)ParseBatchPlan(text);
  (void)ParseHostShare(text);
  const bool name = CheckHostName(text).has_value();
  if (name) MUSTER_CHECK(IsUtf8(text) && text.find_first_of(" /,[]'\"\n") == text.npos);
  (void)CheckLabel(text.substr(0, size / 2), text.substr(size / 2));
  if (const auto names = ExpandHostRanges(text, 1000)) {
    MUSTER_CHECK(names->size() <= 1000);
    (void)FoldHostNames(*names, 100);
  }
  return 0;
}
