#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "ports/clock.hpp"
#include "ports/log_store.hpp"
#include "ports/store.hpp"
#include "server/api/call.hpp"
#include "server/api/caller_slots.hpp"
#include "server/api/lane.hpp"
#include "server/api/look_again.hpp"
#include "server/api/refusals.hpp"

namespace muster::server::api {

// What long answers of lines work with. Everything here outlives the router.
struct LineStreams {
  Store& store;
  LogStore& logs;
  const Clock& clock;
  Lane lane;
  LookAgain look_again;
  Refusals::Later later;                       // on the loop's thread
  Duration longest = std::chrono::minutes(5);  // that one may take
  CallerSlots callers{1};
  std::atomic<std::size_t> under_way = 0;

  // One of the four that may be under way, and the one of its caller; null when there is none left,
  // and the call was answered 503. `what`: "searches".
  std::shared_ptr<void> TakePlace(const CallPtr& call, std::string_view what);
};

// An answer of JSON objects, one on each line, about a run's output: made in slices on the lane,
// no faster than its client reads. It ends with a last line that has `done`; without that it was
// cut off: its token or its time ended, or something could not be read. Alive as long as a worker
// or the exchange will go on with it. Its steps and its end are in the lane, so one of them is done
// at a time.
class LineStream : public std::enable_shared_from_this<LineStream> {
 public:
  LineStream(LineStreams& services, const Call& call, std::shared_ptr<void> place);
  LineStream(const LineStream&) = delete;
  LineStream& operator=(const LineStream&) = delete;
  virtual ~LineStream() = default;

  void Begin();

 protected:
  // Makes some more. False: there is no more. An error breaks the connection.
  virtual Result<bool> GoOn() = 0;
  virtual bool Full() const { return false; }  // enough was told
  // Of the last line, beside `done`. `complete`: GoOn came to its end.
  virtual boost::json::object Last(bool complete) const = 0;

  void Put(const boost::json::object& line);
  void Spend(std::size_t bytes) { slice_ += bytes; }  // of the slice, which has about 1 MB

 private:
  void Go();
  void Watch();
  void Step();
  bool TimeIsUp() const { return services_.clock.Read().mono >= ends_; }
  bool Stops() const { return Full() || TimeIsUp(); }
  void End();
  void Finish();
  void Break();

  LineStreams& services_;
  const std::shared_ptr<net::HttpExchange> exchange_;
  const std::string token_;
  const MonoTime ends_;
  std::shared_ptr<void> place_;  // counted until it goes
  bool complete_ = false;        // all was told
  bool ended_ = false;
  std::string out_;
  std::size_t slice_ = 0;
};

}  // namespace muster::server::api
