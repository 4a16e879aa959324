#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/instant.hpp"
#include "domain/ids.hpp"

namespace muster::server {

// Certificate requests of nodes that wait to be signed. They are signed one after the other, so
// that the requests of all nodes together, or of one that asks without end, keep one worker busy
// and no more. A node has one request at a time, and one in each `every`; others are left out, and
// an agent asks again by itself. For one thread.
class Renewals {
 public:
  struct Request {
    LinkId link;
    std::string key;   // of the node
    std::string host;  // its name
    std::string pem;
  };

  void SetEvery(Duration every) { every_ = every; }

  // False: it is left out.
  bool Take(Request request, MonoTime now) {
    Asked& asked = asked_[request.key];
    if (asked.waits || (asked.at && now - *asked.at < every_)) return false;
    asked = {.at = now, .waits = true};
    queue_.push_back(std::move(request));
    return true;
  }

  // The one to be signed now; none while another is.
  std::optional<Request> Next() {
    if (signing_ || queue_.empty()) return std::nullopt;
    signing_ = true;
    Request next = std::move(queue_.front());
    queue_.pop_front();
    return next;
  }

  // What Next gave is over.
  void Done(const std::string& key) {
    signing_ = false;
    asked_[key].waits = false;
  }

  // Forgets nodes that asked long ago. Call it now and then.
  void Sweep(MonoTime now) {
    std::erase_if(asked_, [&](const auto& item) {
      return !item.second.waits && item.second.at && now - *item.second.at >= every_;
    });
  }

 private:
  Duration every_ = std::chrono::minutes(1);
  std::deque<Request> queue_;
  struct Asked {
    std::optional<MonoTime> at = {};
    bool waits = false;  // its request is not over
  };
  std::unordered_map<std::string, Asked> asked_;  // by key
  bool signing_ = false;
};

}  // namespace muster::server
