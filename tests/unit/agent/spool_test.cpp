#include "agent/shim/spool.hpp"

#include <csignal>
#include <filesystem>
#include <sys/resource.h>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "adapters/crypto/digest.hpp"
#include "agent/files.hpp"
#include "agent/shim/output_keeper.hpp"
#include "agent/tasks/spool_reader.hpp"
#include "temp_folder.hpp"

namespace muster::agent {
namespace {

std::string Record(Stream stream, const std::string& data, std::int64_t time = 7) {
  const auto header = EncodeSpoolHeader(
      {.size = static_cast<std::uint32_t>(data.size()), .stream = stream, .time = {time}});
  return std::string(header.data(), header.size()) + data;
}

std::string Join(const std::vector<LogChunk>& chunks) {
  std::string text;
  for (const auto& chunk : chunks) text += chunk.data;
  return text;
}

TEST(SpoolHeader, ComesBackAsItWas) {
  const SpoolHeader header{.size = 65536, .stream = Stream::kStderr, .time = {1'763'200'999'123}};
  const auto bytes = EncodeSpoolHeader(header);
  EXPECT_EQ(DecodeSpoolHeader({bytes.data(), bytes.size()}), header);
}

TEST(SpoolHeader, RefusesWhatNoShimWrites) {
  const auto whole = Record(Stream::kStdout, "x");
  EXPECT_FALSE(DecodeSpoolHeader(""));
  EXPECT_FALSE(DecodeSpoolHeader(whole.substr(0, 15)));
  EXPECT_FALSE(DecodeSpoolHeader(std::string(16, '\0')));
  EXPECT_FALSE(DecodeSpoolHeader(Record(Stream::kStdout, "x", INT64_MAX)));
  EXPECT_FALSE(DecodeSpoolHeader(Record(Stream::kStdout, "x", INT64_MIN)));
  auto bad_stream = whole;
  bad_stream[4] = 3;
  EXPECT_FALSE(DecodeSpoolHeader(bad_stream));
  auto too_long = whole;
  too_long[2] = 2;
  EXPECT_FALSE(DecodeSpoolHeader(too_long));
}

TEST(ParseSpool, StopsAtATornRecord) {
  const auto first = Record(Stream::kStdout, "one");
  const auto second = Record(Stream::kStderr, "second");
  const auto all = first + second;
  for (std::size_t size = 0; size <= all.size(); ++size) {
    const auto parsed = ParseSpool(std::string_view(all).substr(0, size));
    const std::size_t whole = size < first.size() ? 0 : size < all.size() ? 1 : 2;
    EXPECT_EQ(parsed.records.size(), whole);
    EXPECT_EQ(parsed.whole_bytes, whole == 0 ? 0 : whole == 1 ? first.size() : all.size());
  }
}

RC_GTEST_PROP(ParseSpoolProperty, NeverReadsPastItsInput, (const std::string& bytes)) {
  const auto parsed = ParseSpool(bytes);
  RC_ASSERT(parsed.whole_bytes <= bytes.size());
}

TEST(SpoolReader, MissingFileIsEmpty) {
  SpoolReader reader("/no/such/spool");
  EXPECT_EQ(reader.Advance(), 0U);
  EXPECT_TRUE(reader.Read(0, 10)->empty());
  EXPECT_EQ(reader.Measure()->stdout_sha256, kEmptySha256);
}

TEST(SpoolReader, SeesARecordOnceItIsWhole) {
  const TempFolder folder;
  const auto path = folder / "out";
  const auto all = Record(Stream::kStdout, "one") + Record(Stream::kStdout, "two");
  SpoolReader reader(path);
  for (std::size_t size = 0; size <= all.size(); ++size) {
    ASSERT_TRUE(WriteFile(path, all.substr(0, size)));
    const std::uint64_t expected = size < 19 ? 0 : size < all.size() ? 3 : 6;
    EXPECT_EQ(reader.Advance(), expected);
    EXPECT_EQ(Join(*reader.Read(0, 100)), std::string("onetwo").substr(0, expected));
  }
}

TEST(SpoolReader, SaysWhenTheSpoolShrank) {
  const TempFolder folder;
  const auto path = folder / "out";
  ASSERT_TRUE(WriteFile(path, Record(Stream::kStdout, "one")));
  SpoolReader reader(path);
  ASSERT_EQ(reader.Advance(), 3U);
  ASSERT_TRUE(WriteFile(path, ""));
  EXPECT_EQ(reader.Read(0, 10).error().code, ErrorCode::kUnavailable);
}

// What one writes in pieces and reads in windows, in any order, is the same bytes.
RC_GTEST_PROP(SpoolProperty, WindowsTileTheOutput, ()) {
  const TempFolder folder;
  const auto path = folder / "out";
  const auto pieces = *rc::gen::arbitrary<std::vector<std::pair<bool, std::string>>>();
  std::string text;
  {
    OutputKeeper keeper(path, {}, {.max_output = 1 << 20, .min_free_percent = 0});
    for (const auto& [to_stdout, data] : pieces) {
      keeper.Take(to_stdout ? Stream::kStdout : Stream::kStderr, data, {1});
      text += data;
    }
    SpoolReader reader(path);
    auto kept = keeper.Totals();
    kept.masked_sha256.clear();  // a reader does not know it
    RC_ASSERT(reader.Measure().value() == kept);
  }
  SpoolReader reader(path);
  const auto windows = *rc::gen::container<std::vector<std::pair<std::size_t, std::size_t>>>(
      rc::gen::pair(rc::gen::inRange<std::size_t>(0, text.size() + 2),
                    rc::gen::inRange<std::size_t>(0, text.size() + 2)));
  for (const auto& [from, limit] : windows) {
    const auto chunks = reader.Read(from, limit).value();
    RC_ASSERT(Join(chunks) == (from < text.size() ? text.substr(from, limit) : ""));
    std::uint64_t at = from;
    for (const auto& chunk : chunks) {
      RC_ASSERT(chunk.offset == at);
      at += chunk.data.size();
    }
  }
}

TEST(OutputKeeper, LargeTakesBecomeRecordsOfBoundedSize) {
  const TempFolder folder;
  const auto path = folder / "out";
  OutputKeeper keeper(path, {}, {.max_output = 1 << 20, .min_free_percent = 0});
  const std::string data(kMaxSpoolData * 2 + 5, 'x');
  keeper.Take(Stream::kStderr, data, {1});
  const auto bytes = ReadFile(path);
  ASSERT_TRUE(bytes);
  const auto parsed = ParseSpool(*bytes);
  EXPECT_EQ(parsed.records.size(), 3U);
  EXPECT_EQ(parsed.whole_bytes, bytes->size());
  EXPECT_EQ(keeper.Totals().stderr_sha256, crypto::Sha256(data));
}

// The agent reads while the shim writes: what it has seen must not be taken back.
TEST(OutputKeeper, FullDiskCostsTheTornRecordAndNotTheWholeOnes) {
  const TempFolder folder;
  const std::string path = folder / "out";
  OutputKeeper keeper(path, {}, {.max_output = 1 << 20, .min_free_percent = 0});
  keeper.Take(Stream::kStdout, "first\n", WallTime{1});
  // The longest file this process may write stands in for a full disk.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit full{100'000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  const std::string large(200'000, 'x');
  keeper.Take(Stream::kStdout, large, WallTime{2});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, old_handler);
  const auto totals = keeper.Totals();
  const std::string kept = "first\n" + large.substr(0, kMaxSpoolData);
  EXPECT_EQ(totals.bytes, kept.size());
  EXPECT_EQ(totals.dropped, large.size() - kMaxSpoolData);
  EXPECT_TRUE(totals.gap);
  EXPECT_EQ(totals.stdout_sha256, crypto::Sha256(kept));
  EXPECT_EQ(std::filesystem::file_size(path), kept.size() + 2 * kSpoolHeaderBytes);
}

TEST(OutputKeeper, SilenceMakesNoFile) {
  const TempFolder folder;
  OutputKeeper keeper(folder / "out", {"secret"}, {.max_output = 1 << 20, .min_free_percent = 0});
  keeper.Close(Stream::kStdout, {1});
  EXPECT_FALSE(Exists(folder / "out"));
  EXPECT_EQ(keeper.Totals().stdout_sha256, kEmptySha256);
}

TEST(OutputKeeper, FullDiskIsAGap) {
  OutputKeeper keeper("/dev/full", {}, {.max_output = 1 << 20, .min_free_percent = 0});
  keeper.Take(Stream::kStdout, "lost", {1});
  keeper.Take(Stream::kStdout, "also", {1});
  const auto totals = keeper.Totals();
  EXPECT_EQ(totals.bytes, 0U);
  EXPECT_EQ(totals.dropped, 8U);
  EXPECT_TRUE(totals.gap);
  EXPECT_EQ(totals.stdout_sha256, kEmptySha256);
}

TEST(OutputKeeper, LowDiskIsLeftAlone) {
  const TempFolder folder;
  OutputKeeper keeper(folder / "out", {}, {.max_output = 1 << 20, .min_free_percent = 101});
  keeper.Take(Stream::kStdout, "x", {1});
  EXPECT_TRUE(keeper.Totals().gap);
  EXPECT_EQ(keeper.Totals().dropped, 1U);
}

TEST(OutputKeeper, QuotaCountsMaskedBytes) {
  const TempFolder folder;
  const auto path = folder / "out";
  OutputKeeper keeper(path, {"secret"}, {.max_output = 5, .min_free_percent = 0});
  keeper.Take(Stream::kStdout, "secret", {1});
  keeper.Take(Stream::kStderr, "1234", {1});
  keeper.Close(Stream::kStdout, {1});
  const auto totals = keeper.Totals();
  EXPECT_EQ(totals.bytes, 5U);
  EXPECT_EQ(totals.dropped, 2U);
  EXPECT_FALSE(totals.gap);
  EXPECT_EQ(Join(*SpoolReader(path).Read(0, 100)), "***12");
}

}  // namespace
}  // namespace muster::agent
