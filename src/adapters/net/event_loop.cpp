#include "adapters/net/event_loop.hpp"

#include <csignal>

#include "adapters/net/event_loop_impl.hpp"
#include "base/result.hpp"

namespace muster::net {
namespace {

void WaitReadable(const std::shared_ptr<EventLoop::Impl::Watch>& watch) {
  watch->descriptor.async_wait(asio::posix::descriptor_base::wait_read, [watch](error_code error) {
    if (error || !watch->descriptor.is_open()) return;
    watch->ready();
    if (watch->descriptor.is_open()) WaitReadable(watch);
  });
}

void WaitSignal(asio::signal_set& signals, std::function<void(int)> received) {
  signals.async_wait(
      [&signals, received = std::move(received)](error_code error, int number) mutable {
        if (error) return;
        received(number);
        WaitSignal(signals, std::move(received));
      });
}

}  // namespace

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {
  // A peer that closed is an error code for the writer, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
}

EventLoop::~EventLoop() = default;

void EventLoop::Run() { impl_->context.run(); }

void EventLoop::Stop() { impl_->context.stop(); }

void EventLoop::Post(std::function<void()> work) { asio::post(impl_->context, std::move(work)); }

EventLoop::TimerId EventLoop::After(Duration delay, std::function<void()> work) {
  TimerId id = impl_->next_timer++;
  auto timer = std::make_unique<Impl::Timer>(
      Impl::Timer{Impl::SteadyTimer(impl_->context, delay), std::move(work)});
  timer->timer.async_wait([impl = impl_.get(), id](error_code error) {
    if (error) return;
    auto found = impl->timers.find(id);
    if (found == impl->timers.end()) return;
    auto fired = std::move(found->second->work);
    impl->timers.erase(found);
    fired();
  });
  impl_->timers.emplace(id, std::move(timer));
  return id;
}

void EventLoop::Cancel(TimerId timer) { impl_->timers.erase(timer); }

void EventLoop::WatchReadable(int fd, std::function<void()> ready) {
  auto watch = std::make_shared<Impl::Watch>(Impl::Watch{
      asio::posix::basic_stream_descriptor<Executor>(impl_->context), std::move(ready)});
  error_code error;
  watch->descriptor.assign(fd, error);
  MUSTER_CHECK(!error);
  MUSTER_CHECK(impl_->watches.emplace(fd, watch).second);
  WaitReadable(watch);
}

void EventLoop::Unwatch(int fd) {
  auto found = impl_->watches.find(fd);
  if (found == impl_->watches.end()) return;
  found->second->descriptor.release();
  impl_->watches.erase(found);
}

void EventLoop::OnSignal(std::initializer_list<int> signals, std::function<void(int)> received) {
  auto set = std::make_unique<asio::signal_set>(impl_->context);
  for (int number : signals) set->add(number);
  WaitSignal(*set, std::move(received));
  impl_->signals.push_back(std::move(set));
}

}  // namespace muster::net
