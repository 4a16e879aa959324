#include "adapters/etcd/turns.hpp"

#include <algorithm>
#include <chrono>

namespace muster::etcd {
namespace {

// The clock goes on while the machine is suspended, a wait does not: so no wait is long.
constexpr Duration kLongestWait{100};

}  // namespace

Turns::Turns(const Clock& clock, std::function<void()> idle)
    : clock_(clock), idle_(std::move(idle)), thread_([this] { Run(); }) {}

Turns::~Turns() {
  {
    base::Lock lock(mutex_);
    stop_ = true;
    news_.NotifyAll();
  }
  thread_.join();
}

void Turns::OnChange(std::function<void()> changed) {
  base::Lock lock(mutex_);
  changed_ = std::move(changed);
  news_.NotifyAll();
}

void Turns::Changed() {
  base::Lock lock(mutex_);
  has_changed_ = true;
  news_.NotifyAll();
}

Result<> Turns::Enter(std::string name, std::function<void()> elected, std::function<void()> lost) {
  {
    base::Lock lock(mutex_);
    if (candidacy_) return Fail(ErrorCode::kConflict, "etcd: {} is a candidate already", name);
    candidacy_ = Candidacy{++last_number_, std::move(name), std::move(elected), std::move(lost)};
  }
  idle_();
  return {};
}

void Turns::Leave() {
  {
    base::Lock lock(mutex_);
    candidacy_.reset();
    leads_ = told_ = false;
    const auto waits_for = [](Calling calling) {
      return calling == Calling::kElected || calling == Calling::kLost;
    };
    while (waits_for(calling_) && std::this_thread::get_id() != thread_.get_id())
      call_ended_.Wait(mutex_);
  }
  idle_();
}

std::optional<Turns::Wish> Turns::Wanted() const {
  base::Lock lock(mutex_);
  if (!candidacy_ || (told_ && !leads_) || calling_ == Calling::kLost) return std::nullopt;
  return Wish{candidacy_->number, candidacy_->name, leads_};
}

bool Turns::Won(std::uint64_t number, MonoTime until) {
  base::Lock lock(mutex_);
  if (!candidacy_ || candidacy_->number != number || told_) return false;
  if (until <= clock_.Read().mono) return false;
  leads_ = true;
  until_ = until;
  news_.NotifyAll();
  return true;
}

void Turns::Renewed(MonoTime until) {
  base::Lock lock(mutex_);
  EndIfOver();
  if (leads_) until_ = std::max(until_, until);
}

void Turns::Lost() {
  base::Lock lock(mutex_);
  leads_ = false;
  news_.NotifyAll();
}

void Turns::EndIfOver() {
  if (leads_ && clock_.Read().mono >= until_) {
    leads_ = false;
    news_.NotifyAll();
  }
}

MonoTime Turns::LeadUntil() const {
  base::Lock lock(mutex_);
  return leads_ && told_ ? until_ : MonoTime{0};
}

void Turns::Run() {
  while (auto call = Next()) {
    call();
    Ended();
  }
}

std::function<void()> Turns::Next() {
  base::Lock lock(mutex_);
  while (!stop_) {
    if (auto due = Due()) return due;
    if (!leads_) {
      news_.Wait(mutex_);
      continue;
    }
    const Duration left = std::min(until_ - clock_.Read().mono, kLongestWait);
    news_.WaitUntil(mutex_, std::chrono::steady_clock::now() + std::max(left, Duration(0)));
  }
  return {};
}

std::function<void()> Turns::Due() {
  EndIfOver();
  if (candidacy_ && leads_ != told_) {
    told_ = leads_;
    calling_ = leads_ ? Calling::kElected : Calling::kLost;
    return leads_ ? candidacy_->elected : candidacy_->lost;
  }
  if (changed_ && std::exchange(has_changed_, false)) {
    calling_ = Calling::kChanged;
    return changed_;
  }
  return {};
}

void Turns::Ended() {
  bool candidate = false;
  {
    base::Lock lock(mutex_);
    candidate = calling_ != Calling::kChanged;
    calling_ = Calling::kNothing;
    call_ended_.NotifyAll();
  }
  if (candidate) idle_();
}

}  // namespace muster::etcd
