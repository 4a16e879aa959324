#include "server/api/byte_range.hpp"

#include <gtest/gtest.h>

namespace muster::server::api {
namespace {

using RangeKind = RangeAnswer::Kind;

TEST(ReadRange, TakesOneRangeOfBytes) {
  const auto part = [](std::string_view header) {
    const auto answer = ReadRange(header, 10);
    EXPECT_EQ(answer.kind, RangeKind::kPart) << header;
    return answer.range;
  };
  EXPECT_EQ(part("bytes=0-4"), (ByteRange{0, 5}));
  EXPECT_EQ(part("bytes=5-"), (ByteRange{5, 10}));
  EXPECT_EQ(part("bytes=5-100"), (ByteRange{5, 10}));
  EXPECT_EQ(part("bytes=-3"), (ByteRange{7, 10}));
  EXPECT_EQ(part("bytes=-30"), (ByteRange{0, 10}));
}

TEST(ReadRange, IgnoresWhatItDoesNotKnow) {
  for (const char* header : {"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "lines=0-4",
                             "bytes=0-1,3-4", "bytes=4-2", "bytes=99999999999999999999-"})
    EXPECT_EQ(ReadRange(header, 10).kind, RangeKind::kWhole) << header;
}

TEST(ReadRange, SaysWhenThereAreNoSuchBytes) {
  EXPECT_EQ(ReadRange("bytes=10-", 10).kind, RangeKind::kNone);
  EXPECT_EQ(ReadRange("bytes=-0", 10).kind, RangeKind::kNone);
  EXPECT_EQ(ReadRange("bytes=0-", 0).kind, RangeKind::kNone);
}

TEST(ReadUploadRange, MustNameBytesAndSize) {
  EXPECT_EQ(*ReadUploadRange("bytes 5-9/10"), (UploadRange{{5, 10}, 10}));
  EXPECT_EQ(*ReadUploadRange("bytes */0"), UploadRange{});
  for (const char* header : {"", "bytes 5-9", "bytes 5-10/10", "bytes 9-5/10", "bytes */5",
                             "bytes 5-9/*", "lines 5-9/10", "bytes a-9/10"})
    EXPECT_FALSE(ReadUploadRange(header)) << header;
}

}  // namespace
}  // namespace muster::server::api
