#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/activity.hpp"
#include "base/mutex.hpp"
#include "engine/effects.hpp"
#include "ports/server_actions.hpp"
#include "ports/store.hpp"
#include "server/traces/settings.hpp"
#include "server/traces/trace.hpp"

namespace muster::server {

// Tells a collector of each run that ended here, from a thread of its own. What the collector does
// not take now is tried again, for as long as there is room to wait; nothing else waits for it.
// Safe from any thread.
class TraceSender {
 public:
  using Open = std::function<Result<std::unique_ptr<ServerActions>>(const TraceSettings& settings)>;

  static constexpr std::size_t kMostQueued = 10'000;  // passes of runs; then the oldest goes
  static constexpr std::size_t kMostAtOnce = 200;     // in one request

  struct Counts {
    std::uint64_t sent = 0;     // passes of runs
    std::uint64_t dropped = 0;  // for lack of room, refused by the collector, or left at the end
    std::size_t queued = 0;
    std::string trouble;  // why nothing is sent at the moment; "" when all is well
  };

  // `open` gives the way out for some settings.
  TraceSender(Store& store, std::string server, Open open);
  ~TraceSender();

  // Other settings, from now on. kInvalid, kNotFound: they cannot be used, the old ones stay.
  Result<> Use(const TraceSettings& settings) EXCLUDES(mutex_);

  // Notes the runs that ended. Cheap.
  void Take(const std::vector<engine::News>& news) EXCLUDES(mutex_);

  // Whether anybody is told.
  bool On() const EXCLUDES(mutex_);
  Counts Count() const EXCLUDES(mutex_);
  base::Activity::View GetActivity() const { return activity_.Look(); }

  // Gives what waits two seconds to be sent, and ends.
  void Stop() EXCLUDES(mutex_);

 private:
  struct Pass {
    RunId run;
    std::uint32_t pass = 1;
  };
  using Headers = std::vector<std::pair<std::string, std::string>>;
  // What one round goes by, also while the settings change.
  struct Way {
    TraceSettings settings;
    Headers headers;
    std::unique_ptr<ServerActions> actions;
  };
  enum class Fate { kTaken, kRefused, kLater };

  static Result<Headers> ReadHeaders(const std::string& file);

  void Loop() EXCLUDES(mutex_);
  // The next pass, if need be once there is one. None: there is none, or it is to end.
  std::optional<Pass> Pop(bool wait) EXCLUDES(mutex_);
  // What is to be told of `first` and those behind it, as much as one request should hold.
  std::vector<Trace> Gather(const Pass& first, const TraceSettings& settings) EXCLUDES(mutex_);
  void Deliver(std::shared_ptr<Way> way, const std::vector<Trace>& traces) EXCLUDES(mutex_);
  Fate Send(Way& way, const std::string& body) EXCLUDES(mutex_);
  // False: it is to end.
  bool WaitFor(Duration time) EXCLUDES(mutex_);
  void Trouble(std::string why) EXCLUDES(mutex_);
  std::shared_ptr<Way> GetWay() const EXCLUDES(mutex_);

  Store& store_;
  const std::string server_;
  const Open open_;
  base::Activity activity_{"traces"};

  mutable base::Mutex mutex_;
  base::Condition changed_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  bool ended_ GUARDED_BY(mutex_) = true;         // the loop
  std::shared_ptr<Way> way_ GUARDED_BY(mutex_);  // none: nobody is told
  std::deque<Pass> queue_ GUARDED_BY(mutex_);
  Counts counts_ GUARDED_BY(mutex_);
  std::uint64_t requests_ = 0;  // the thread's own
  std::thread thread_ GUARDED_BY(mutex_);
};

}  // namespace muster::server
