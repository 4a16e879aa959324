#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>

#include "base/instant.hpp"

namespace muster::net {

// One thread's loop: timers, signals, readable descriptors, posted functions. Everything it calls,
// it calls on the thread that is in Run. Post and Stop are safe from any thread, the rest from the
// loop's own thread (or before Run).
class EventLoop {
 public:
  using TimerId = std::uint64_t;

  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  void Run();  // until Stop
  void Stop();
  void Post(std::function<void()> work);

  TimerId After(Duration delay, std::function<void()> work);
  void Cancel(TimerId timer);  // harmless when it has fired

  // Calls `ready` each time `fd` is readable, until Unwatch. Does not own the descriptor.
  void WatchReadable(int fd, std::function<void()> ready);
  void Unwatch(int fd);

  void OnSignal(std::initializer_list<int> signals, std::function<void(int)> received);

  struct Impl;  // Asio's io_context lives there; only adapters/net sees it
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::net
