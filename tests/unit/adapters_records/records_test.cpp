#include "adapters/records/records.hpp"

#include <gtest/gtest.h>

#include "adapters/records/compress.hpp"
#include "support/old_runs.hpp"
#include "support/random_records.hpp"

namespace muster::records {
namespace {

constexpr std::uint64_t kSeeds = 200;

TEST(Records, HeadsFromBeforeGetWhoAndWhenFromTheirDocuments) {
  Document document{.kind = "job", .name = "web", .version = 2, .hash = {}, .text = "text"};
  document.by = "alice";
  document.at = {1'000};
  DocumentHead old = HeadOf(document);
  EXPECT_EQ(DecodeDocumentHead(EncodeDocumentHead(old)), old);
  old.by = {};
  old.at = {};
  DocumentHead newer = HeadOf(document);
  newer.by = "bob";
  DocumentHead gone = old;
  gone.name = "gone";
  std::vector heads{newer, old, gone};
  int reads = 0;
  ASSERT_TRUE(FillOldHeads(heads, [&](const DocumentHead& head) -> Result<std::optional<Document>> {
    ++reads;
    return head.name == "web" ? std::optional(document) : std::nullopt;
  }));
  EXPECT_EQ(heads, (std::vector{newer, HeadOf(document), gone}));
  EXPECT_EQ(reads, 2);
}

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
    EXPECT_EQ(**DecodeTargets(*EncodeTargets(targets)), targets);
    const muster::Run run = random.SomeRun();
    const auto again = DecodeRun(*EncodeRun(run));
    ASSERT_TRUE(again);
    EXPECT_TRUE(SameRow(*again, run));
    EXPECT_TRUE(SamePlan(again->spec, RowSpecOf(run.spec)));
    const auto plan = DecodePlan(*EncodePlan(run.spec));
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_TRUE(SamePlan(*plan, run.spec));
    const StageVisit visit = random.SomeVisit();
    EXPECT_EQ(DecodeVisit(*EncodeVisit(visit)), visit);
    const Trigger trigger = random.SomeTrigger();
    EXPECT_EQ(DecodeTrigger(EncodeTrigger(trigger)), trigger);
    const SlotRecord slot = random.SomeSlot();
    EXPECT_EQ(DecodeSlot(EncodeSlot(slot)), slot);
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
  const std::string blob = *EncodePlan(*job);
  EXPECT_LT(blob.size(), 2000U);
  const auto plan = DecodePlan(blob);
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
  const auto one = EncodeVisit(visit)->size();
  visit.hosts = Ordinals::All(100'000);
  EXPECT_LE(EncodeVisit(visit)->size(), one + 2);
}

TEST(Records, RowFromBeforeJobsGivesItsPlanAndProgress) {
  const auto run = DecodeRun(OldOpenRun());
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->spec.title, "systemctl restart nginx");
  EXPECT_EQ(run->spec.priority, Priority::kNormal);
  EXPECT_EQ(run->next_visit, 2U);
  ASSERT_EQ(run->spec.stages.size(), 1U);
  const StageSpec& stage = run->spec.stages.front();
  ASSERT_NE(CommandOf(stage), nullptr);
  EXPECT_EQ(CommandOf(stage)->argv, (std::vector<std::string>{"systemctl", "restart", "nginx"}));
  // What it did not say is as in a stage that says nothing.
  StageSpec want;
  want.action = stage.action;
  want.concurrency = 2;
  want.batches = *ParseBatchPlan("1,100%");
  want.max_failures = {.number = 1};
  EXPECT_EQ(stage, want);
  StageProgress progress;
  progress.name = "command";
  progress.state = StageState::kRunning;
  progress.visit = Visit(1);
  progress.visits = 1;
  progress.started = {1'700'000'000'000};
  progress.hosts = 3;
  EXPECT_EQ(run->stages, std::vector{progress});
  const auto ended = DecodeRun(OldEndedRun());
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->outcome, StageState::kFailed);
  EXPECT_EQ(ended->counts[TaskState::kSkipped], 1U);
  EXPECT_EQ(ended->counts.Total(), 3U);
}

TEST(Records, DamagedBlobsAreOurFaultAndHarmNothing) {
  RandomRecords random(7);
  const auto damage = [&](std::string blob) {
    blob[random.Number(blob.size())] ^= static_cast<char>(1 + random.Number(255));
    blob.resize(random.Number(blob.size() + 1));
    return blob;
  };
  for (int i = 0; i < 2000; ++i) {
    const auto run = DecodeRun(damage(*EncodeRun(random.SomeRun())));
    if (!run) EXPECT_EQ(run.error().code, ErrorCode::kInternal);
    const auto plan = DecodePlan(damage(*EncodePlan(random.SomePlan(1))));
    if (!plan) EXPECT_EQ(plan.error().code, ErrorCode::kInternal);
    const auto visit = DecodeVisit(damage(*EncodeVisit(random.SomeVisit())));
    if (!visit) EXPECT_EQ(visit.error().code, ErrorCode::kInternal);
  }
  EXPECT_EQ(DecodePlan(*Pack("")).error().code, ErrorCode::kInternal);
  EXPECT_EQ(DecodeHost("\xff").error().code, ErrorCode::kInternal);
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
  EXPECT_LT(EncodeTargets(targets)->size(), 100'000U);
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
