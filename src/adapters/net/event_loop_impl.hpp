#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "adapters/net/asio.hpp"
#include "adapters/net/event_loop.hpp"
#include "adapters/net/tls.hpp"
#include "base/mutex.hpp"

namespace muster::net {

// The way to a loop for those who may outlive it: once the loop is gone, posted work is dropped.
class LoopHandle {
 public:
  explicit LoopHandle(asio::io_context& context) : context_(&context) {}

  template <typename Work>
  void Post(Work work) EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    if (context_ != nullptr) asio::post(*context_, std::move(work));
  }
  void Detach() EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    context_ = nullptr;
  }

 private:
  base::Mutex mutex_;
  asio::io_context* context_ GUARDED_BY(mutex_);
};

struct EventLoop::Impl {
  using SteadyTimer =
      asio::basic_waitable_timer<std::chrono::steady_clock,
                                 asio::wait_traits<std::chrono::steady_clock>, Executor>;
  struct Timer {
    SteadyTimer timer;
    std::function<void()> work;
  };
  // Shared between the table and the wait in progress.
  struct Watch {
    asio::posix::basic_stream_descriptor<Executor> descriptor;
    std::function<void()> ready;
  };

  ~Impl() { handle->Detach(); }

  // First, so that it goes last: what waits in it may refer to the rest.
  asio::io_context context{1};
  asio::executor_work_guard<Executor> work{context.get_executor()};
  std::shared_ptr<LoopHandle> handle = std::make_shared<LoopHandle>(context);
  TimerId next_timer = 1;
  std::unordered_map<TimerId, std::unique_ptr<Timer>> timers;
  std::unordered_map<int, std::shared_ptr<Watch>> watches;
  std::vector<std::unique_ptr<asio::signal_set>> signals;
  // Thousands of links of one process trust the same CA; one context serves them all.
  std::unordered_map<std::string, std::shared_ptr<ClientContext>> client_contexts;
};

}  // namespace muster::net
