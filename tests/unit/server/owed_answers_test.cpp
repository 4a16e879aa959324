#include "server/leading/owed_answers.hpp"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

class OwedAnswersTest : public ::testing::Test {
 protected:
  RequestId Owe(int who, std::int64_t until) {
    return owed_.Owe([this, who](const Result<engine::AnyAnswer>&) { told_.push_back(who); },
                     MonoTime{until});
  }
  void Tell(const std::vector<OwedAnswers::OnAnswer>& taken) {
    for (const auto& on_answer : taken) on_answer(Fail(ErrorCode::kTimeout, "late"));
  }

  OwedAnswers owed_;
  std::vector<int> told_;
};

TEST_F(OwedAnswersTest, EachIsGivenOutOnce) {
  const auto first = Owe(1, 10);
  const auto second = Owe(2, 10);
  EXPECT_NE(first, second);
  EXPECT_EQ(owed_.Count(), 2U);
  const auto on_answer = owed_.Take(second);
  ASSERT_TRUE(on_answer);
  on_answer(engine::AnyAnswer{});
  EXPECT_EQ(told_, std::vector<int>{2});
  EXPECT_FALSE(owed_.Take(second));
  EXPECT_EQ(owed_.Count(), 1U);
}

TEST_F(OwedAnswersTest, TheLateOnesAreTheOldest) {
  EXPECT_EQ(owed_.NextLate(), kNever);
  EXPECT_TRUE(owed_.TakeLate(kNever).empty());
  Owe(1, 10);
  Owe(2, 20);
  Owe(3, 30);
  EXPECT_EQ(owed_.NextLate(), MonoTime{10});
  EXPECT_TRUE(owed_.TakeLate(MonoTime{9}).empty());
  Tell(owed_.TakeLate(MonoTime{20}));
  EXPECT_EQ(told_, (std::vector<int>{1, 2}));
  EXPECT_EQ(owed_.NextLate(), MonoTime{30});
}

TEST_F(OwedAnswersTest, AllAreGivenOutInOrder) {
  Owe(1, 10);
  Owe(2, 20);
  Tell(owed_.TakeAll());
  EXPECT_EQ(told_, (std::vector<int>{1, 2}));
  EXPECT_EQ(owed_.Count(), 0U);
  EXPECT_TRUE(owed_.TakeAll().empty());
}

// A late reply to one who gave up must not reach the next.
TEST_F(OwedAnswersTest, NumbersAreNotUsedAgain) {
  const auto first = Owe(1, 10);
  owed_.TakeAll();
  EXPECT_NE(Owe(2, 20), first);
  EXPECT_FALSE(owed_.Take(first));
}

}  // namespace
}  // namespace muster::server
