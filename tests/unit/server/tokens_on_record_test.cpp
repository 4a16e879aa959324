#include "server/auth/tokens_on_record.hpp"

#include <deque>

#include <gtest/gtest.h>

#include "adapters/crypto/digest.hpp"
#include "adapters/memory/memory_store.hpp"

namespace muster::server {
namespace {

class PeopleOnRecordTest : public testing::Test {
 protected:
  PeopleOnRecordTest() { fence_ = *store_.TakeTerm(); }

  void Put(WallTime revoked) {
    const Token token{.name = "ann",
                      .hash = crypto::Sha256("secret"),
                      .role = Role::kViewer,
                      .created_by = "admin",
                      .created = {1},
                      .expires = {},
                      .revoked_by = {},
                      .revoked = revoked};
    auto batch = std::make_shared<Batch>();
    batch->changes.push_back(PutToken{token});
    ++fence_.number.value;
    store_.Commit(batch, fence_.term, fence_.number,
                  [](const Result<>& done) { ASSERT_TRUE(done) << done.error().message; });
  }
  // What `ann` is told by a call that comes now, once it is answered.
  std::shared_ptr<std::string> Call() {
    auto told = std::make_shared<std::string>("nothing yet");
    people_.Look([this, told](const Result<>& looked) {
      if (!looked) {
        *told = looked.error().message;
        return;
      }
      const auto actor = people_.people().Check("Bearer secret", WallTime{5});
      *told = actor ? actor->name : std::string(Name(actor.error().code));
    });
    return told;
  }
  void WorkOne() {
    const auto work = std::move(work_.front());
    work_.pop_front();
    work();
  }

  MemoryStore store_;
  Fence fence_;
  bool room_ = true;
  std::string cut_off_;
  std::deque<std::function<void()>> work_;
  PeopleOnRecord people_{store_,
                         "admin",
                         {.to_worker =
                              [this](std::function<void()> work) {
                                if (room_) work_.push_back(std::move(work));
                                return room_;
                              },
                          .to_loop = [](const std::function<void()>& work) { work(); },
                          .cut_off = [this] { return cut_off_; }}};
};

TEST_F(PeopleOnRecordTest, DoesNotAskAStoreThatIsKnownToBeAway) {
  Put({});
  cut_off_ = "the store has not answered for 4s";
  EXPECT_NE(Call()->find(cut_off_), std::string::npos);
  EXPECT_TRUE(work_.empty());
  cut_off_.clear();
  const auto told = Call();
  WorkOne();
  EXPECT_EQ(*told, "ann");
}

TEST_F(PeopleOnRecordTest, KnowsWhoIsOnRecord) {
  Put({});
  const auto told = Call();
  EXPECT_EQ(*told, "nothing yet");
  WorkOne();
  EXPECT_EQ(*told, "ann");
  EXPECT_TRUE(work_.empty());
}

// The reading under way may have begun before the token was revoked.
TEST_F(PeopleOnRecordTest, CallThatComesDuringAReadingWaitsForTheNext) {
  Put({});
  const auto first = Call();
  const auto second = Call();
  const auto third = Call();
  ASSERT_EQ(work_.size(), 1u);
  WorkOne();
  EXPECT_EQ(*first, "ann");
  EXPECT_EQ(*second, "nothing yet");
  Put({2});
  ASSERT_EQ(work_.size(), 1u);
  WorkOne();
  EXPECT_EQ(*second, "denied");
  EXPECT_EQ(*third, "denied");
  EXPECT_TRUE(work_.empty());
}

TEST_F(PeopleOnRecordTest, SaysWhenThereIsNoRoom) {
  room_ = false;
  EXPECT_EQ(*Call(), "the server is too busy; try again shortly");
  room_ = true;
  const auto told = Call();
  WorkOne();
  EXPECT_EQ(*told, "denied");
}

TEST_F(PeopleOnRecordTest, ThoseOfASecondAgoDoForAnAnswerThatGoesOn) {
  Put({});
  int looked = 0;
  const auto look = [&](std::int64_t now) {
    people_.LookAgain(MonoTime{now}, [&](const Result<>& result) { looked += result ? 1 : 0; });
  };
  look(1'000);
  WorkOne();
  look(1'999);
  EXPECT_EQ(looked, 2);
  EXPECT_TRUE(work_.empty()) << "nothing was read for the second";
  Put({3});
  look(2'000);
  ASSERT_EQ(work_.size(), 1U);
  WorkOne();
  EXPECT_EQ(looked, 3);
  EXPECT_FALSE(people_.people().Usable("ann", WallTime{5}));
  room_ = false;
  look(3'000);
  EXPECT_EQ(looked, 3) << "it could not be read";
  room_ = true;
  look(3'001);
  EXPECT_EQ(work_.size(), 1U) << "so it is read again";
}

}  // namespace
}  // namespace muster::server
