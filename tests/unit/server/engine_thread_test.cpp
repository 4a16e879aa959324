#include "server/leading/engine_thread.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/local/local_coordinator.hpp"
#include "adapters/memory/memory_store.hpp"
#include "support/eventually.hpp"
#include "support/faulty_store.hpp"
#include "support/no_links.hpp"

namespace muster::server {
namespace {

class HandClock final : public Clock {
 public:
  Now Read() const override { return {.wall = {ms_.load()}, .mono = {ms_.load()}}; }
  void Advance(Duration by) { ms_ += by.count(); }

 private:
  std::atomic<std::int64_t> ms_ = 1'000'000;
};

class EngineThreadTest : public ::testing::Test {
 protected:
  using Answered = std::future<Result<engine::InviteCreated>>;

  void SetUp() override {
    ASSERT_TRUE(thread_.Start());
    ASSERT_TRUE(Eventually([&] { return thread_.GetStatus().leading; }));
  }

  Answered Invite(const std::string& id) {
    auto promise = std::make_shared<std::promise<Result<engine::InviteCreated>>>();
    engine::CreateInvite request;
    request.invite.id = id;
    thread_.Ask(request, [promise](Result<engine::InviteCreated> answer) {
      promise->set_value(std::move(answer));
    });
    return promise->get_future();
  }

  static ErrorCode CodeOf(Answered& answer) {
    if (answer.wait_for(std::chrono::minutes(1)) != std::future_status::ready)
      return ErrorCode::kInternal;
    const auto got = answer.get();
    EXPECT_FALSE(got);
    return got ? ErrorCode::kInternal : got.error().code;
  }

  MemoryStore memory_;
  FaultyStore store_{memory_};
  NoLinks links_;
  LocalCoordinator coordinator_;
  HandClock clock_;
  // One in a batch: what comes while a batch is written waits in the queue.
  EngineThread thread_{
      store_, links_, coordinator_, clock_, [](const auto&) {}, {.most_changes = 1}, "test"};
};

TEST_F(EngineThreadTest, CallerOfABatchThatIsNeverWrittenIsAnswered) {
  store_.FailNext(CommitFault::kDelayed);
  auto answer = Invite("one");
  ASSERT_TRUE(Eventually([&] { return store_.Delayed() == 1; }));
  EXPECT_EQ(answer.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  clock_.Advance(std::chrono::seconds(11));
  EXPECT_EQ(CodeOf(answer), ErrorCode::kTimeout);
  store_.ReleaseDelayed();
  auto next = Invite("two");
  ASSERT_EQ(next.wait_for(std::chrono::minutes(1)), std::future_status::ready);
  EXPECT_TRUE(next.get());
}

TEST_F(EngineThreadTest, FullDiskIsUnavailableToOthersAndATimeoutToWhoeverIsInTheBatch) {
  store_.FailNext(CommitFault::kDiskFull, 1'000'000);
  auto answer = Invite("one");
  ASSERT_TRUE(Eventually([&] { return !thread_.GetStatus().reason.empty(); }));
  auto other = Invite("two");
  EXPECT_EQ(CodeOf(other), ErrorCode::kUnavailable);
  EXPECT_EQ(answer.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  clock_.Advance(std::chrono::seconds(11));
  EXPECT_EQ(CodeOf(answer), ErrorCode::kTimeout);
}

TEST_F(EngineThreadTest, WhenAnotherLeadsNobodyWaits) {
  store_.FailNext(CommitFault::kDelayed);
  auto in_flight = Invite("one");
  ASSERT_TRUE(Eventually([&] { return store_.Delayed() == 1; }));
  auto gathered = Invite("two");
  auto queued = Invite("three");
  ASSERT_TRUE(memory_.TakeTerm());
  store_.ReleaseDelayed();
  for (auto* answer : {&in_flight, &gathered, &queued})
    EXPECT_EQ(CodeOf(*answer), ErrorCode::kUnavailable);
  // Nor does any of it happen when this server leads again.
  ASSERT_TRUE(Eventually([&] { return Invite("four").get().has_value(); }));
  const auto loaded = memory_.Load(memory_.ReadFence()->term);
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_EQ(loaded->invites.size(), 1u);
  EXPECT_EQ(loaded->invites.front().id, "four");
}

}  // namespace
}  // namespace muster::server
