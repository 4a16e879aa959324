#include "adapters/etcd/watcher.hpp"

#include <algorithm>
#include <chrono>

namespace muster::etcd {
namespace {

constexpr std::chrono::milliseconds kPause{100};

}  // namespace

Watcher::Watcher(Gateway& gateway, Keys keys, Duration idle, View& view,
                 std::function<void()> changed)
    : gateway_(gateway),
      keys_(std::move(keys)),
      idle_(idle),
      view_(view),
      changed_(std::move(changed)),
      thread_([this] { Run(); }) {}

Watcher::~Watcher() {
  {
    base::Lock lock(mutex_);
    stop_ = true;
    stopped_.NotifyAll();
  }
  gateway_.Abort();
  thread_.join();
}

void Watcher::Run() {
  // What goes wrong here goes wrong for the keeper too, who tells of it.
  do {
    if (next_ == 0 && !Read()) continue;
    (void)Follow();
  } while (Pause());
}

bool Watcher::Pause() {
  base::Lock lock(mutex_);
  const auto until = std::chrono::steady_clock::now() + kPause;
  while (!stop_ && std::chrono::steady_clock::now() < until) stopped_.WaitUntil(mutex_, until);
  return !stop_;
}

Result<> Watcher::Read() {
  const auto snapshot = gateway_.AskFor("/v3/kv/range", RangeBody(keys_.prefix), ReadSnapshot);
  if (!snapshot) return Fail(snapshot.error());
  next_ = snapshot->revision + 1;
  if (view_.Replace(*snapshot, position_)) changed_();
  return {};
}

Result<> Watcher::Follow() {
  return gateway_.Follow("/v3/watch", WatchBody(keys_.prefix, next_), idle_,
                         [this](const boost::json::object& message) {
                           const auto news = ReadNews(message);
                           return news && OnNews(*news);
                         });
}

bool Watcher::OnNews(const WatchNews& news) {
  // A store that has not come as far as we were is another one, or an older copy.
  const bool went_back = news.created && news.revision + 1 < next_;
  if (news.canceled || went_back) {
    next_ = 0;
    return false;
  }
  for (const KeyValue& event : news.events) next_ = std::max(next_, event.revision + 1);
  if (view_.Apply(news.events)) changed_();
  return true;
}

}  // namespace muster::etcd
