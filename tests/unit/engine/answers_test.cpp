#include <gtest/gtest.h>

#include "engine/answer.hpp"
#include "engine/turn.hpp"

namespace muster::engine {
namespace {

template <typename C, typename T>
concept Takes = requires(Turn& turn, const C& command, T answer) { turn.Answer(command, answer); };

// A command takes its own answers and errors.
static_assert(Takes<StopRun, RunStopping>);
static_assert(Takes<StopRun, std::unexpected<Error>>);
static_assert(!Takes<StopRun, RunStarted>);
static_assert(Takes<StartRun, RunStarted>);
static_assert(Takes<StartRun, GateClosed>);
static_assert(!Takes<StartRun, KeyRefused>);
static_assert(!Takes<LinkClosed, NoAnswer>);

TEST(Answers, ComeOutAsTheyWentIn) {
  const auto stopping = Unpack<StopRun>(Pack(RunStopping{RunId(3), RunState::kRunning}));
  ASSERT_TRUE(stopping);
  EXPECT_EQ(stopping->run, RunId(3));
}

TEST(Answers, OfSeveralKindsKeepTheirs) {
  const auto answer = Unpack<StartRun>(Pack(StartRun::Answer(GateClosed{"disk_low", "full"})));
  ASSERT_TRUE(answer);
  EXPECT_EQ(std::get<GateClosed>(*answer).gate, "disk_low");
}

TEST(Answers, ErrorsPass) {
  const auto answer = Unpack<StartRun>(Fail(ErrorCode::kDenied, "no"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kDenied);
}

}  // namespace
}  // namespace muster::engine
