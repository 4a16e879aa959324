#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "cli/context.hpp"
#include "cli/sse.hpp"

namespace muster::cli {

// Reads the event stream on a thread of its own, so that the program can meanwhile wait for a
// person's signals as well. The thread may outlive the feed; the program then just ends.
class EventFeed {
 public:
  struct Item {
    SseEvent event;
    bool closed = false;  // the stream ended; `error` says why, unless the server closed it
    Error error;
  };

  EventFeed(const Context& context, std::string topics);
  ~EventFeed();
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;

  // Connects once; the end comes as a closed item. `from` is the commit seen last.
  void Start(const std::string& from);
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
