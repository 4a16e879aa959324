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
    EXPECT_EQ(Decode<Host>(*Encode(host)), host);
    const Invite invite = random.SomeInvite();
    EXPECT_EQ(Decode<Invite>(*Encode(invite)), invite);
    const StopWish wish = random.Wish();
    EXPECT_EQ(Decode<StopWish>(*Encode(wish)), wish);
    const Targets targets = random.SomeTargets();
    EXPECT_EQ(*Decode<Targets>(*Encode(targets)), targets);
    const muster::Run run = random.SomeRun();
    const auto again = Decode<muster::Run>(*Encode(run));
    ASSERT_TRUE(again);
    EXPECT_TRUE(SameRow(*again, run));
    EXPECT_TRUE(SamePlan(again->spec, RowSpecOf(run.spec)));
    const auto plan = Decode<RunSpec>(*Encode(run.spec));
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_TRUE(SamePlan(*plan, run.spec));
    const StageVisit visit = random.SomeVisit();
    EXPECT_EQ(Decode<StageVisit>(*Encode(visit)), visit);
    const Trigger trigger = random.SomeTrigger();
    EXPECT_EQ(Decode<Trigger>(*Encode(trigger)), trigger);
    const SlotRecord slot = random.SomeSlot();
    EXPECT_EQ(Decode<SlotRecord>(*Encode(slot)), slot);
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
    again.log.masked_sha256.clear();
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

TEST(Records, PlanKeepsAJobThatManyStartOnce) {
  // Each level starts the one below it twice: 2^20 jobs if they were written one by one.
  auto job = std::make_shared<const RunSpec>(RunSpec{.title = "leaf", .stages = {StageSpec()}});
  for (int level = 0; level < 20; ++level) {
    auto next = std::make_shared<RunSpec>();
    next->jobs = {{"left", job}, {"right", job}};
    job = next;
  }
  const std::string blob = *Encode(*job);
  EXPECT_LT(blob.size(), 2000U);
  const auto plan = Decode<RunSpec>(blob);
  ASSERT_TRUE(plan) << plan.error().message;
  const RunSpec* at = &*plan;
  for (int level = 0; level < 20; ++level) {
    EXPECT_EQ(at->jobs.at("left"), at->jobs.at("right"));
    at = at->jobs.at("left").get();
  }
  EXPECT_EQ(at->title, "leaf");
  EXPECT_EQ(at->stages, std::vector<StageSpec>(1));
}

TEST(Records, VisitOfAllHostsIsNoLargerThanOfOne) {
  StageVisit visit;
  visit.hosts = Ordinals::All(1);
  const auto one = Encode(visit)->size();
  visit.hosts = Ordinals::All(100'000);
  EXPECT_LE(Encode(visit)->size(), one + 2);
}

TEST(Records, DamagedBlobsAreOurFaultAndHarmNothing) {
  RandomRecords random(7);
  const auto damage = [&](std::string blob) {
    blob[random.Number(blob.size())] ^= static_cast<char>(1 + random.Number(255));
    blob.resize(random.Number(blob.size() + 1));
    return blob;
  };
  for (int i = 0; i < 2000; ++i) {
    const auto run = Decode<muster::Run>(damage(*Encode(random.SomeRun())));
    if (!run) EXPECT_EQ(run.error().code, ErrorCode::kInternal);
    const auto plan = Decode<RunSpec>(damage(*Encode(random.SomePlan(1))));
    if (!plan) EXPECT_EQ(plan.error().code, ErrorCode::kInternal);
    const auto visit = Decode<StageVisit>(damage(*Encode(random.SomeVisit())));
    if (!visit) EXPECT_EQ(visit.error().code, ErrorCode::kInternal);
  }
  EXPECT_EQ(Decode<RunSpec>(*Pack("")).error().code, ErrorCode::kInternal);
  EXPECT_EQ(Decode<Host>("\xff").error().code, ErrorCode::kInternal);
}

TEST(Records, NothingIsPackedThatIsNotUnpacked) {
  const std::string most(kMostPacked, 'x');
  const auto packed = Pack(most);
  ASSERT_TRUE(packed);
  EXPECT_TRUE(Unpack(*packed) == most);
  EXPECT_EQ(Pack(most + 'x').error().code, ErrorCode::kInternal);
}

TEST(Records, NamesOfManyHostsPackSmall) {
  Targets targets;
  for (std::uint32_t i = 0; i < 10'000; ++i)
    targets.push_back({.host = HostId(i + 1), .name = fmt::format("web{:05}.example.org", i)});
  EXPECT_LT(Encode(targets)->size(), 100'000U);
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
