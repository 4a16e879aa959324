#include "server/live/channel_book.hpp"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

class ChannelBookTest : public testing::Test {
 protected:
  ChannelBookTest() { book_.Load({}, WallTime{1}); }

  static OpenNotice Notice(std::uint64_t run, std::uint32_t attempts, std::int64_t made = 10) {
    OpenNotice notice;
    notice.run = RunId(run);
    notice.visit = Visit(7);
    notice.channel = "ops";
    notice.state = "failed";
    notice.made = {made};
    notice.attempts = attempts;
    return notice;
  }

  void Put(const OpenNotice& notice) {
    Batch batch;
    batch.changes.emplace_back(PutNotice{notice});
    book_.Take(batch);
  }
  void Drop(std::uint64_t run) {
    Batch batch;
    batch.changes.emplace_back(DropNotice{RunId(run), Visit(7)});
    book_.Take(batch);
  }
  void Attempt(std::uint64_t run, TaskState state, const std::string& reason, std::int64_t at) {
    const TaskKey key{RunId(run), Visit(7), 0, HostId(), muster::Attempt(1)};
    book_.TakeAttempt("ops", key, {.state = state, .reason = reason}, {at});
  }

  ChannelBook book_;
};

TEST_F(ChannelBookTest, NoticeIsUndeliveredFromItsFirstFailureOn) {
  Put(Notice(1, 0));
  EXPECT_EQ(book_.Find("ops").undelivered, 0U);
  Attempt(1, TaskState::kFailed, "503", 20);
  Put(Notice(1, 1));
  EXPECT_EQ(book_.Find("ops").undelivered, 1U);
  EXPECT_EQ(book_.Sum().undelivered, 1U);
  ASSERT_EQ(book_.OfRun(RunId(1)).size(), 1U);
  EXPECT_EQ(book_.OfRun(RunId(1)).front().trouble, "503");
  EXPECT_TRUE(book_.OfRun(RunId(2)).empty());
  Attempt(1, TaskState::kFailed, "no answer", 30);
  Put(Notice(1, 2));
  EXPECT_EQ(book_.Find("ops").undelivered, 1U) << "it is one, however often it was tried";
  EXPECT_EQ(book_.OfRun(RunId(1)).front().trouble, "no answer");
  Attempt(1, TaskState::kSucceeded, "", 40);
  Drop(1);
  EXPECT_EQ(book_.Sum().undelivered, 0U);
  EXPECT_EQ(book_.Find("ops").undelivered, 0U);
  EXPECT_EQ(book_.Find("ops").delivered, WallTime{40});
}

TEST_F(ChannelBookTest, OldestIsTold) {
  Put(Notice(1, 1, 300));
  Put(Notice(2, 1, 100));
  Put(Notice(3, 1, 200));
  EXPECT_EQ(book_.Find("ops").oldest, WallTime{100});
  Drop(2);
  EXPECT_EQ(book_.Sum().oldest, WallTime{200});
  EXPECT_EQ(book_.Find("ops").oldest, WallTime{200});
  EXPECT_EQ(book_.Find("other").undelivered, 0U);
}

TEST_F(ChannelBookTest, LeadershipBeginsWithWhatIsOnRecord) {
  Put(Notice(1, 1));
  book_.Load({Notice(2, 3), Notice(3, 0)}, WallTime{50});
  EXPECT_TRUE(book_.OfRun(RunId(1)).empty());
  EXPECT_EQ(book_.Find("ops").undelivered, 1U);
  EXPECT_EQ(book_.OfRun(RunId(2)).front().trouble, "");
  EXPECT_EQ(book_.Since(), WallTime{50});
}

TEST_F(ChannelBookTest, TestsAreAttemptsAndNoNotices) {
  book_.TakeAttempt("ops", std::nullopt, {.state = TaskState::kFailed, .reason = "503"}, {20});
  const auto channel = book_.Find("ops");
  EXPECT_EQ(channel.undelivered, 0U);
  EXPECT_FALSE(channel.delivered);
  ASSERT_TRUE(channel.last);
  EXPECT_FALSE(channel.last->delivered);
  EXPECT_EQ(channel.last->reason, "503");
}

}  // namespace
}  // namespace muster::server
