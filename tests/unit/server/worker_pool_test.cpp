#include "server/runtime/worker_pool.hpp"

#include <future>

#include <gtest/gtest.h>

namespace muster::server {
namespace {

using namespace std::chrono_literals;

// Work that ends when the test says so.
class Held {
 public:
  std::function<void()> Work() {
    return [this] {
      begun_.set_value();
      end_.get_future().wait();
    };
  }
  bool Begins() { return begun_.get_future().wait_for(10s) == std::future_status::ready; }
  void End() { end_.set_value(); }

 private:
  std::promise<void> begun_;
  std::promise<void> end_;
};

TEST(WorkerPool, UrgentWorkIsDoneWhileAllWorkersAreBusy) {
  std::vector<Held> held(2);
  std::promise<void> other;
  std::promise<void> urgent;
  WorkerPool workers(2);  // the last, so that it goes before what its work uses
  EXPECT_EQ(workers.Threads(), 2U);
  for (auto& one : held) {
    ASSERT_TRUE(workers.Post(one.Work()));
    ASSERT_TRUE(one.Begins());
  }
  ASSERT_TRUE(workers.Post([&] { other.set_value(); }));
  ASSERT_TRUE(workers.PostUrgent([&] { urgent.set_value(); }, "stop"));
  EXPECT_EQ(urgent.get_future().wait_for(10s), std::future_status::ready);
  auto late = other.get_future();
  EXPECT_EQ(late.wait_for(0s), std::future_status::timeout);
  for (auto& one : held) one.End();
  EXPECT_EQ(late.wait_for(10s), std::future_status::ready);
}

TEST(WorkerPool, UrgentWorkComesBeforeWhatIsQueued) {
  std::string order;
  {
    Held work;
    Held urgent;
    std::promise<void> done;
    WorkerPool workers(1);
    ASSERT_TRUE(workers.Post(work.Work()));
    ASSERT_TRUE(work.Begins());
    ASSERT_TRUE(workers.PostUrgent(urgent.Work(), "stop"));
    ASSERT_TRUE(urgent.Begins());
    ASSERT_TRUE(workers.Post([&] { order += "a"; }));
    ASSERT_TRUE(workers.PostUrgent([&] { order += "b"; }, "stop"));
    work.End();
    ASSERT_TRUE(workers.Post([&] { done.set_value(); }));
    ASSERT_EQ(done.get_future().wait_for(10s), std::future_status::ready);
    urgent.End();
  }
  EXPECT_EQ(order, "ba");
}

TEST(WorkerPool, WhatIsQueuedIsFinished) {
  std::atomic<int> done = 0;
  {
    WorkerPool workers(1);
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(workers.Post([&] { ++done; }));
      ASSERT_TRUE(workers.PostUrgent([&] { ++done; }, "stop"));
    }
  }
  EXPECT_EQ(done, 20);
}

TEST(WorkerPool, AFullQueueRefuses) {
  Held held;
  WorkerPool workers(1, 1);
  ASSERT_TRUE(workers.Post(held.Work()));
  ASSERT_TRUE(held.Begins());
  EXPECT_TRUE(workers.Post([] {}));
  EXPECT_FALSE(workers.Post([] {}));
  held.End();
}

}  // namespace
}  // namespace muster::server
