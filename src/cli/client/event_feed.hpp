#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "cli/client/sse.hpp"
#include "cli/context.hpp"

namespace muster::cli {

// Reads the event stream on a thread of its own, so that the program can meanwhile wait for a
// person's signals as well. The thread may outlive the feed; the program then just ends.
class EventFeed {
 public:
  struct Item {
    SseEvent event;
    bool closed = false;  // the stream ended; `error` says why, unless the server closed it
    Error error;

    // About what it takes.
    std::size_t Bytes() const {
      return sizeof(Item) + event.id.size() + event.name.size() + event.data.size();
    }
  };

  using Clock = std::chrono::steady_clock;
  // A server sends something every 15 s, so one that is silent for this long is stuck or cut off.
  static constexpr Duration kStalled = std::chrono::seconds(20);

  EventFeed(const Context& context, std::string topics);
  ~EventFeed();
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;

  // Connects once, to the server of this number first; the end comes as a closed item. `from` is
  // the commit seen last. Items of an earlier connection are dropped.
  void Start(const std::string& from, std::size_t server = 0);
  // When something came last, a keep-alive too, or when it was started.
  Clock::time_point Heard() const;
  bool Stalled() const { return Clock::now() >= Heard() + kStalled; }
  // The server it is connected to, or which is to be asked next.
  std::size_t Server() const;
  // Readable while there are items.
  int Fd() const;
  std::vector<Item> Take();

 private:
  struct Shared;
  const Context& context_;
  std::string topics_;
  std::shared_ptr<Shared> shared_;  // with the reading thread
};

}  // namespace muster::cli
