#include <gmock/gmock.h>

#include "unit/engine/engine_fixture.hpp"

namespace muster::engine {
namespace {

class Why : public EngineFixture {
 protected:
  // What host 1 waits for, when it is away and the run waits this long for it.
  std::string Because(Duration wait) {
    StageSpec stage;
    stage.wait_offline = wait;
    const auto run = Start(1, stage);
    const auto id = Ask(AskWhy{.caller = {}, .run = run, .host = {}});
    Settle();
    const auto& answer = replies_.at(id);
    EXPECT_TRUE(answer);
    return answer ? std::get<WhyAnswer>(*answer).waiting.at(0).because : "";
  }
};

TEST_F(Why, TellsTimesInWordsAPersonReads) {
  using std::chrono::hours;
  using std::chrono::seconds;
  using testing::EndsWith;
  AddHosts(1);
  Cut(1);
  Settle();
  EXPECT_THAT(Because(Duration(4'321)), EndsWith("in 5 s"));
  EXPECT_THAT(Because(seconds(125)), EndsWith("in 2 min 5 s"));
  EXPECT_THAT(Because(seconds(120)), EndsWith("in 2 min"));
  EXPECT_THAT(Because(hours(3) + seconds(61)), EndsWith("in 3 h 1 min"));
  EXPECT_THAT(Because(hours(50)), EndsWith("in 2 d 2 h"));
}

TEST_F(Why, NamesAPauseOnceWithTheWayOn) {
  using testing::ElementsAre;
  AddHosts(1);
  const auto run = Start(1);
  const auto id = FormatRunId(run);
  Ask(PauseRun{.caller = {{}, "ann", "", ""}, .run = run, .reason = "storage"});
  Settle();
  const auto why = Ask(AskWhy{.caller = {}, .run = run, .host = {}});
  Settle();
  EXPECT_THAT(std::get<WhyAnswer>(*replies_.at(why)).summary.at(0),
              "ann paused the run: storage; tasks that run go on to their end; to resume it: "
              "muster resume " +
                  id);
}

}  // namespace
}  // namespace muster::engine
