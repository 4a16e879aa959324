#include "server/api/call_lanes.hpp"

#include <utility>

#include <fmt/format.h>

namespace muster::server::api {
namespace {

void FailTooBusy(Call& call) {
  call.Fail(503, "unavailable", "the server is too busy; try again shortly",
            {{"Retry-After", "1"}});
}

bool IsShared(std::string_view caller) {
  return caller == CallLanes::kNameless || caller == CallLanes::kNamelessReads;
}

}  // namespace

void CallLanes::Post(const std::string& caller, const Handle& handle, CallPtr call,
                     std::string what) {
  Waiting one{.handle = &handle, .call = call, .what = std::move(what)};
  switch (Admit(caller, one)) {
    case Fate::kBegins:
      if (!Begin(caller, std::move(one))) Next(caller);
      return;
    case Fate::kWaits:
      return;
    case Fate::kTooMany:
      return call->Fail(
          429, "unavailable",
          fmt::format("{} calls {} wait already; make fewer at a time, or try again later",
                      bounds_.waiting, IsShared(caller) ? "without a token" : "of this caller"),
          {{"Retry-After", "1"}});
    case Fate::kTooBusy:
      return FailTooBusy(*call);
  }
}

CallLanes::Fate CallLanes::Admit(const std::string& caller, Waiting& one) {
  base::Lock lock(mutex_);
  Lane& lane = lanes_[caller];
  const std::size_t most = IsShared(caller) ? 1 : bounds_.at_work;
  if (lane.at_work < most) {
    ++lane.at_work;
    return Fate::kBegins;
  }
  if (lane.waiting.size() >= bounds_.waiting) return Fate::kTooMany;
  if (waiting_ >= bounds_.waiting_in_all) return Fate::kTooBusy;
  lane.waiting.push_back(std::move(one));
  ++waiting_;
  return Fate::kWaits;
}

bool CallLanes::Begin(const std::string& caller, Waiting one) {
  const CallPtr call = one.call;
  std::string what = std::move(one.what);
  if (workers_.Post(
          [this, caller, handle = one.handle, call] {
            (*handle)(call);
            Next(caller);
          },
          std::move(what)))
    return true;
  FailTooBusy(*call);
  return false;
}

void CallLanes::Next(const std::string& caller) {
  for (Waiting one; TakeNext(caller, one); one = {})
    if (Begin(caller, std::move(one))) return;
}

bool CallLanes::TakeNext(const std::string& caller, Waiting& one) {
  base::Lock lock(mutex_);
  const auto found = lanes_.find(caller);
  Lane& lane = found->second;
  if (lane.waiting.empty()) {
    if (--lane.at_work == 0) lanes_.erase(found);
    return false;
  }
  one = std::move(lane.waiting.front());
  lane.waiting.pop_front();
  --waiting_;
  return true;
}

}  // namespace muster::server::api
