#include "server/api/lane.hpp"

#include <future>

#include <gtest/gtest.h>

namespace muster::server::api {
namespace {

constexpr auto kPatience = std::chrono::minutes(1);

bool Came(std::promise<void>& promise) {
  return promise.get_future().wait_for(kPatience) == std::future_status::ready;
}

TEST(Lane, ItsStepsLeaveTheOtherWorkersAlone) {
  WorkerPool workers(2);
  Lane lane(workers, "heavy");
  std::promise<void> go;
  const std::shared_future<void> gone(go.get_future());
  std::promise<void> last;
  for (int i = 0; i < 5; ++i)
    lane.Post([&, i] {
      gone.wait();
      if (i == 4) last.set_value();
    });
  std::promise<void> other;
  workers.Post([&] { other.set_value(); });
  EXPECT_TRUE(Came(other)) << "the second worker is free";
  go.set_value();
  EXPECT_TRUE(Came(last));
  workers.Stop();  // before the lane goes: it outlives their work
}

TEST(Lane, StepsAreDoneInTheirOrder) {
  WorkerPool workers(4);
  Lane lane(workers, "heavy");
  std::vector<int> done;  // no lock: one step at a time
  std::promise<void> last;
  for (int i = 0; i < 100; ++i)
    lane.Post([&, i] {
      done.push_back(i);
      if (i == 99) last.set_value();
    });
  EXPECT_TRUE(Came(last));
  workers.Stop();
  ASSERT_EQ(done.size(), 100U);
  EXPECT_TRUE(std::ranges::is_sorted(done));
}

TEST(Lane, StepsThatFindNoWorkerAreDropped) {
  WorkerPool workers(1, 1);
  Lane lane(workers, "heavy");
  std::promise<void> go;
  std::promise<void> begun;
  std::atomic<int> dropped = 0;
  std::atomic<int> done = 0;
  workers.Post([&, gone = std::make_shared<std::future<void>>(go.get_future())] {
    begun.set_value();
    gone->wait();
  });
  ASSERT_TRUE(Came(begun));
  workers.Post([] {});  // the queue is full
  lane.Post([&] { ++done; }, [&] { ++dropped; });
  EXPECT_EQ(dropped, 1);
  go.set_value();
  workers.Stop();
  lane.Post([&] { ++done; }, [&] { ++dropped; });
  EXPECT_EQ(dropped, 2);
  EXPECT_EQ(done, 0);
}

}  // namespace
}  // namespace muster::server::api
