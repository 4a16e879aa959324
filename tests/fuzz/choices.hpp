#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster::fuzz {

// What an input decides, taken from its front; zeros when it is used up.
class Choices {
 public:
  explicit Choices(std::string_view bytes) : left_(bytes) {}

  bool Empty() const { return left_.empty(); }
  std::uint8_t Byte() {
    if (left_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(left_.front());
    left_.remove_prefix(1);
    return byte;
  }
  std::size_t Below(std::size_t most) { return most == 0 ? 0 : Byte() % most; }
  bool Yes() { return (Byte() & 1) != 0; }
  // Small ones often, huge ones too.
  std::uint64_t Number() {
    const std::uint8_t kind = Byte();
    if (kind < 200) return kind % 16;
    if (kind < 240) return static_cast<std::uint64_t>(Byte()) << (Byte() % 57);
    return ~std::uint64_t{0} - kind % 4;
  }
  std::string_view Bytes(std::size_t size) {
    const std::string_view taken = left_.substr(0, std::min(size, left_.size()));
    left_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view Short() { return Bytes(Byte() % 24); }
  // With a length of two bytes before it: room for a whole frame.
  std::string_view Long() {
    const std::size_t high = Byte();
    return Bytes(high << 8 | Byte());
  }

 private:
  std::string_view left_;
};

}  // namespace muster::fuzz
