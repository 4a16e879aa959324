#include "adapters/records/records.hpp"

#include <gtest/gtest.h>

#include "adapters/records/compress.hpp"
#include "support/random_records.hpp"

namespace muster::records {
namespace {

constexpr std::uint64_t kSeeds = 200;

TEST(Records, RoundTripWhateverIsInside) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    RandomRecords random(seed);
    const Host host = random.SomeHost();
    EXPECT_EQ(DecodeHost(EncodeHost(host)), host);
    const Invite invite = random.SomeInvite();
    EXPECT_EQ(DecodeInvite(EncodeInvite(invite)), invite);
    const StopWish wish = random.Wish();
    EXPECT_EQ(DecodeWish(EncodeWish(wish)), wish);
    const Targets targets = random.SomeTargets();
    EXPECT_EQ(**DecodeTargets(EncodeTargets(targets)), targets);
    const muster::Run run = random.SomeRun();
    const auto again = DecodeRun(EncodeRun(run));
    ASSERT_TRUE(again);
    EXPECT_TRUE(SameRun(*again, run));
  }
}

TEST(Records, TaskRestRoundTripsAndLeavesTheColumns) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    RandomRecords random(seed);
    const TaskRecord task = random.Task();
    TaskRecord again = task;
    again.end = std::nullopt;
    again.late = std::nullopt;
    again.reason.clear();
    again.stop_wished = false;
    again.log.stdout_sha256.clear();
    again.log.stderr_sha256.clear();
    ASSERT_TRUE(DecodeTaskRest(EncodeTaskRest(task), &again));
    EXPECT_EQ(again, task);
  }
}

TEST(Records, TaskJustSentHasNoRest) {
  TaskRecord task;
  task.key.run = RunId(1);
  task.store = "s";
  EXPECT_EQ(EncodeTaskRest(task), "");
}

TEST(Records, DamagedBlobsAreOurFaultAndHarmNothing) {
  RandomRecords random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string blob = EncodeRun(random.SomeRun());
    blob[random.Number(blob.size())] ^= static_cast<char>(1 + random.Number(255));
    blob.resize(random.Number(blob.size() + 1));
    const auto run = DecodeRun(blob);
    if (!run) EXPECT_EQ(run.error().code, ErrorCode::kInternal);
  }
  EXPECT_EQ(DecodeHost("\xff").error().code, ErrorCode::kInternal);
}

TEST(Records, NamesOfManyHostsPackSmall) {
  Targets targets;
  for (std::uint32_t i = 0; i < 10'000; ++i)
    targets.push_back({.host = HostId(i + 1), .name = fmt::format("web{:05}.example.org", i)});
  EXPECT_LT(EncodeTargets(targets).size(), 100'000U);
}

TEST(Compress, KeepsWhatWouldNotShrink) {
  EXPECT_FALSE(Compress("short"));
  RandomRecords random(1);
  std::string noise(1000, '\0');
  for (auto& byte : noise) byte = static_cast<char>(random.Number(256));
  EXPECT_FALSE(Compress(noise));
  const std::string calm(1000, 'a');
  const auto packed = Compress(calm);
  ASSERT_TRUE(packed);
  EXPECT_EQ(Decompress(*packed, 1000), calm);
  EXPECT_FALSE(Decompress(*packed, 999));
}

}  // namespace
}  // namespace muster::records
