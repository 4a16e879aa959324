#pragma once

#include <deque>
#include <memory>
#include <thread>
#include <unordered_set>
#include <vector>

#include "adapters/egress/destinations.hpp"
#include "adapters/egress/settings.hpp"
#include "base/mutex.hpp"
#include "base/result.hpp"
#include "ports/clock.hpp"
#include "ports/server_actions.hpp"

namespace muster::outside {

struct Bounds;
class Transfer;

// ServerActions with libcurl, all on one thread of its own, which also calls every `done`.
class CurlActions final : public ServerActions {
 public:
  // kInvalid: the settings cannot be read.
  static Result<std::unique_ptr<CurlActions>> Make(const OutsideSettings& settings,
                                                   const Clock& clock);
  ~CurlActions() override;

  void Start(const TaskKey& task, ServerAction action, Done done) override;
  void Cancel(const TaskKey& task) override;
  void Stop() override;

  // Other settings, for what begins from now on. kInvalid leaves the old ones.
  Result<> Use(const OutsideSettings& settings) EXCLUDES(mutex_);

 private:
  struct Multi;
  using Transfers = std::vector<std::unique_ptr<Transfer>>;

  CurlActions(std::shared_ptr<const Bounds> bounds, const Clock& clock);
  void Run();
  bool Stopping() EXCLUDES(mutex_);
  void Admit() EXCLUDES(mutex_);
  std::unique_ptr<Transfer> TakeNext() REQUIRES(mutex_);  // null: none has a place
  void TakeCancels() EXCLUDES(mutex_);
  void Perform();
  void EndAll() EXCLUDES(mutex_);
  std::unique_ptr<Transfer> Release(const Transfer* transfer, bool cut_off) EXCLUDES(mutex_);

  const Clock& clock_;
  std::unique_ptr<Multi> multi_;

  base::Mutex mutex_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::shared_ptr<const Bounds> bounds_ GUARDED_BY(mutex_);  // shared with what is under way
  std::deque<std::unique_ptr<Transfer>> waiting_ GUARDED_BY(mutex_);
  std::unordered_set<TaskKey> cancels_ GUARDED_BY(mutex_);
  Destinations destinations_ GUARDED_BY(mutex_);

  Transfers active_;  // the thread's own
  base::Mutex join_mutex_;
  std::thread thread_ GUARDED_BY(join_mutex_);
};

}  // namespace muster::outside
