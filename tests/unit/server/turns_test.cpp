#include "server/api/turns.hpp"

#include <future>

#include <gtest/gtest.h>

namespace muster::server::api {
namespace {

constexpr auto kTurnsPatience = std::chrono::minutes(1);

bool HasCome(std::promise<void>& promise) {
  return promise.get_future().wait_for(kTurnsPatience) == std::future_status::ready;
}

TEST(Turns, OwnerWithOneStepWaitsForOneOfEachOther) {
  WorkerPool workers(4);
  Turns turns(workers, "join");
  std::promise<void> go;
  const std::shared_future<void> gone(go.get_future());
  std::string order;  // no lock: one step at a time
  std::promise<void> last;
  const auto post = [&](const std::string& owner) {
    turns.Post(
        owner,
        [&, owner] {
          gone.wait();
          order += owner;
          if (order.size() == 11) last.set_value();
        },
        [] { ADD_FAILURE(); });
  };
  for (int i = 0; i < 10; ++i) post("a");
  post("b");
  go.set_value();
  EXPECT_TRUE(HasCome(last));
  workers.Stop();  // before the turns go: they outlive its work
  EXPECT_EQ(order, "abaaaaaaaaa");
}

TEST(Turns, StepsPastTheBoundOfAnOwnerAreDropped) {
  WorkerPool workers(1);
  Turns turns(workers, "join");
  std::promise<void> go;
  const std::shared_future<void> gone(go.get_future());
  std::atomic<int> done = 0;
  int dropped = 0;
  for (int i = 0; i < 1'500; ++i)
    turns.Post(
        "a",
        [&] {
          gone.wait();
          ++done;
        },
        [&] { ++dropped; });
  EXPECT_EQ(dropped, 499);
  std::promise<void> other;
  turns.Post("b", [&] { other.set_value(); }, [] { ADD_FAILURE(); });
  go.set_value();
  EXPECT_TRUE(HasCome(other));
  workers.Stop();
}

TEST(Turns, StepsThatFindNoWorkerAreAllDropped) {
  WorkerPool workers(1);
  Turns turns(workers, "join");
  workers.Stop();
  int dropped = 0;
  for (int i = 0; i < 3; ++i) turns.Post("a", [] { ADD_FAILURE(); }, [&] { ++dropped; });
  EXPECT_EQ(dropped, 3);
}

}  // namespace
}  // namespace muster::server::api
