#pragma once

#include <functional>
#include <string>
#include <thread>

#include "base/mutex.hpp"
#include "ports/clock.hpp"
#include "ports/store.hpp"
#include "server/leading/clock_judge.hpp"

namespace muster::server {

// Asks the store for its clock every second, on a thread of its own. So a server of a cluster knows
// whether it reaches the store, also while it has nothing to write and while a write is not
// answered, and tells `judge` how its own clock compares. It also learns which cluster the store is
// of. Safe from any thread.
class StorePulse {
 public:
  // `beat` is called after each answer and each failure, on that thread.
  StorePulse(Store& store, const Clock& clock, ClockJudge& judge, std::function<void()> beat);
  ~StorePulse();

  static constexpr Duration kEvery = std::chrono::seconds(1);
  // A store that answers is asked and has answered within this, however busy it is.
  static constexpr Duration kSilent = std::chrono::seconds(4);

  void Start();
  void Stop() EXCLUDES(mutex_);

  // Since when the store has not answered: the first of the questions since its last answer. kNever
  // when all are answered.
  MonoTime UnansweredSince() const EXCLUDES(mutex_);
  // The id of the store's cluster; "" until the store has said it.
  std::string Cluster() const EXCLUDES(mutex_);
  // Why this server does not reach the store, once it has been silent for too long; "" before.
  std::string Trouble() const EXCLUDES(mutex_);

 private:
  void Ask() EXCLUDES(mutex_);
  void LearnCluster() EXCLUDES(mutex_);
  void Loop() EXCLUDES(mutex_);

  Store& store_;
  const Clock& clock_;
  ClockJudge& judge_;
  const std::function<void()> beat_;

  mutable base::Mutex mutex_;
  base::Condition changed_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  MonoTime unanswered_ GUARDED_BY(mutex_) = kNever;
  std::string refusal_ GUARDED_BY(mutex_);  // of the last question
  std::string cluster_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace muster::server
