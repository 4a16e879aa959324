#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace muster::cli {

// One server-sent event. `id` is the last id seen, also when this event brought none.
struct SseEvent {
  std::string id;
  std::string name = "message";
  std::string data;
};

// Cuts a stream of bytes into server-sent events (WHATWG HTML, section 9.2.6), however the bytes
// are split. Comments and unknown fields are dropped; an event without data is none. Lines, ids,
// names and the data of an event have a bound.
class SseParser {
 public:
  static constexpr std::size_t kMost = 16 << 20;  // bytes; a piece of output has 64 KiB
  static constexpr std::size_t kMostId = 256;     // also of a name; each event has both

  // Calls `on_event` for each event that `bytes` completes, until it returns false; then returns
  // false itself. False also past the bound.
  bool Feed(std::string_view bytes, const std::function<bool(SseEvent)>& on_event);

  const std::string& LastId() const { return id_; }
  // The stream went past the bound: no more of it is taken.
  bool TooLong() const {
    return line_.size() > kMost || data_.size() > kMost || id_.size() > kMostId ||
           name_.size() > kMostId;
  }

 private:
  bool TakeLine(std::string_view line, const std::function<bool(SseEvent)>& on_event);

  std::string line_;
  bool after_cr_ = false;
  std::string id_;
  std::string name_;
  std::string data_;
  bool has_data_ = false;
};

}  // namespace muster::cli
