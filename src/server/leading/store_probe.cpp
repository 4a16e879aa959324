#include "server/leading/store_probe.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace muster::server {

StorePulse::StorePulse(Store& store, const Clock& clock, ClockJudge& judge,
                       std::function<void()> beat)
    : store_(store), clock_(clock), judge_(judge), beat_(std::move(beat)) {}

StorePulse::~StorePulse() { Stop(); }

void StorePulse::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void StorePulse::Stop() {
  {
    base::Lock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

void StorePulse::Ask() {
  const Now before = clock_.Read();
  {
    base::Lock lock(mutex_);
    unanswered_ = std::min(unanswered_, before.mono);
  }
  const auto there = store_.ReadClock();
  if (there) LearnCluster();
  if (there && *there) judge_.StoreSaid(before, **there, clock_.Read().mono);
  {
    base::Lock lock(mutex_);
    if (there) unanswered_ = kNever;
    refusal_ = there ? "" : there.error().message;
  }
  beat_();
}

void StorePulse::LearnCluster() {
  if (!Cluster().empty()) return;
  auto cluster = store_.ReadCluster();
  base::Lock lock(mutex_);
  if (cluster) cluster_ = std::move(*cluster);  // else it is asked again
}

std::string StorePulse::Cluster() const {
  base::Lock lock(mutex_);
  return cluster_;
}

void StorePulse::Loop() {
  while (true) {
    Ask();
    const auto next = std::chrono::steady_clock::now() + kEvery;
    base::Lock lock(mutex_);
    while (!stopping_ && std::chrono::steady_clock::now() < next) changed_.WaitUntil(mutex_, next);
    if (stopping_) return;
  }
}

MonoTime StorePulse::UnansweredSince() const {
  base::Lock lock(mutex_);
  return unanswered_;
}

std::string StorePulse::Trouble() const {
  const MonoTime now = clock_.Read().mono;
  base::Lock lock(mutex_);
  if (unanswered_ == kNever || now - unanswered_ <= kSilent) return "";
  return refusal_.empty() ? fmt::format("the store has not answered for {}",
                                        FormatDuration((now - unanswered_) / 1000 * 1000))
                          : refusal_;
}

}  // namespace muster::server
