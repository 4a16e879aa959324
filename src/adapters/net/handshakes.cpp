#include "adapters/net/handshakes.hpp"

#include <ctime>
#include <pthread.h>
#include <utility>

namespace muster::net {
namespace {

// Of the calling thread: what others do on a busy machine is charged to nobody.
std::int64_t ProcessorTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

struct Handshakes::Step {
  std::string source;
  SSL* ssl;
  Done done;
  Attempt attempt = {};
};

Handshakes::StepRef Handshakes::Begin(const std::string& source, SSL* ssl, Done done) {
  auto step = std::make_shared<Step>(Step{.source = source, .ssl = ssl, .done = std::move(done)});
  StepRef ref = step;
  {
    base::Lock lock(mutex_);
    if (stopping_) return {};
    queue_.Push(source, std::move(step));
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
  changed_.NotifyOne();
  return ref;
}

bool Handshakes::Withdraw(const StepRef& ref) {
  // Ends after the lock: its `done` may own what calls this.
  const StepPtr step = ref.lock();
  if (!step) return false;
  base::Lock lock(mutex_);
  return queue_.Erase(step->source, step);
}

void Handshakes::Stop() {
  FairQueue<StepPtr> dropped;  // ends after the lock
  {
    base::Lock lock(mutex_);
    stopping_ = true;
    std::swap(dropped, queue_);
  }
  changed_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

Handshakes::StepPtr Handshakes::Take() {
  base::Lock lock(mutex_);
  while (!stopping_ && queue_.empty()) changed_.Wait(mutex_);
  if (stopping_) return nullptr;
  return queue_.Take()->second;
}

void Handshakes::Run() {
  pthread_setname_np(pthread_self(), "handshakes");
  while (StepPtr step = Take()) {
    const std::int64_t before = ProcessorTime();
    step->attempt = TryHandshake(step->ssl);
    const std::int64_t took = ProcessorTime() - before;
    {
      base::Lock lock(mutex_);
      queue_.Charge(step->source, took);
    }
    loop_->Post([step = std::move(step)] { std::exchange(step->done, nullptr)(step->attempt); });
  }
}

}  // namespace muster::net
