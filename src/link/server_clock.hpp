#pragma once

#include <cstdint>
#include <optional>

#include "link/messages.hpp"

namespace muster::link {

// A node's estimate of its server's steady clock, from answers to its own questions. It is always
// at or ahead of the truth: the server read its clock after the question left, so counting from the
// moment of the question cannot give too little. A node that asks it whether `start_by` is past
// may refuse an order that was still good, but never obeys one that has expired.
class ServerClock {
 public:
  // The server's answer to a question asked at `asked` (own boottime clock, ms).
  void Answered(std::int64_t asked, ServerTime server_time, std::int64_t now) {
    const std::int64_t offset = server_time - asked;
    // Two machines' steady clocks drift apart by far less than a thousandth.
    const std::int64_t aged = offset_ ? *offset_ + (now - measured_) / 1000 : offset;
    if (!offset_ || offset <= aged) {
      offset_ = offset;
      measured_ = now;
    }
  }
  void Forget() { offset_.reset(); }

  // Nothing before the first answer.
  std::optional<ServerTime> Latest(std::int64_t now) const {
    if (!offset_) return std::nullopt;
    return now + *offset_ + (now - measured_) / 1000;
  }

 private:
  std::optional<std::int64_t> offset_;
  std::int64_t measured_ = 0;
};

}  // namespace muster::link
