#pragma once

#include <cstdint>
#include <string_view>

namespace muster::cli {

// How far the output of one attempt was taken. Whatever is offered, each byte is taken once and in
// order.
class LogCursor {
 public:
  enum class Verdict { kTake, kOld, kHole };
  struct Offer {
    Verdict verdict = Verdict::kTake;
    std::string_view fresh;  // the part not taken yet; empty unless kTake
  };

  // kHole: bytes before `offset` are missing; nothing was taken, fetch from Next() first.
  Offer Take(std::uint64_t offset, std::string_view bytes) {
    if (offset > next_) return {Verdict::kHole, {}};
    const std::uint64_t known = next_ - offset;
    if (known >= bytes.size()) return {Verdict::kOld, {}};
    bytes.remove_prefix(static_cast<std::size_t>(known));
    next_ += bytes.size();
    return {Verdict::kTake, bytes};
  }

  // Leaves out what the server says is not there (a gap, another stream).
  void SkipTo(std::uint64_t offset) {
    if (offset > next_) next_ = offset;
  }

  std::uint64_t Next() const { return next_; }

 private:
  std::uint64_t next_ = 0;
};

}  // namespace muster::cli
