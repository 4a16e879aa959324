#include "adapters/crypto/plain_key.hpp"

#include <cstddef>
#include <optional>

namespace muster::crypto {
namespace {

constexpr unsigned char kSequence = 0x30;
constexpr unsigned char kVersion = 0xA0;  // explicit [0], of a certificate only

// SubjectPublicKeyInfo { id-ecPublicKey, prime256v1 } and the head of a point with both its
// coordinates, 32 bytes each.
constexpr std::string_view kPlainKey(
    "\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07"
    "\x03\x42\x00\x04",
    27);
constexpr std::size_t kPlainKeySize = 91;
constexpr std::size_t kMaxLengthBytes = 3;

struct Element {
  unsigned char tag;
  std::string_view whole;
  std::string_view content;
};

// The element that `left` begins with, which is then behind it. Tags of one byte and lengths that
// are given: nothing else is in what Muster makes.
std::optional<Element> TakeElement(std::string_view& left) noexcept {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(left[at]); };
  if (left.size() < 2 || (byte(0) & 0x1F) == 0x1F) return std::nullopt;
  std::size_t head = 2;
  std::size_t length = byte(1);
  if (length >= 0x80) {
    const std::size_t count = length & 0x7F;
    if (count == 0 || count > kMaxLengthBytes || left.size() < head + count) return std::nullopt;
    length = 0;
    for (; head < 2 + count; ++head) length = length << 8 | byte(head);
  }
  if (left.size() - head < length) return std::nullopt;
  const Element found{byte(0), left.substr(0, head + length), left.substr(head, length)};
  left.remove_prefix(head + length);
  return found;
}

bool Skip(std::string_view& left, int elements) noexcept {
  while (elements-- > 0)
    if (!TakeElement(left)) return false;
  return true;
}

// What is in the first of the elements in the outermost one.
std::optional<std::string_view> InsideOf(std::string_view der) noexcept {
  const auto outer = TakeElement(der);
  if (!outer || outer->tag != kSequence) return std::nullopt;
  std::string_view parts = outer->content;
  const auto inner = TakeElement(parts);
  if (!inner || inner->tag != kSequence) return std::nullopt;
  return inner->content;
}

bool NextIsPlainKey(std::string_view left) noexcept {
  const auto key = TakeElement(left);
  return key && key->whole.size() == kPlainKeySize && key->whole.starts_with(kPlainKey);
}

}  // namespace

bool CertHasPlainKey(std::string_view der) noexcept {
  auto left = InsideOf(der);
  if (!left || left->empty()) return false;
  if (static_cast<unsigned char>(left->front()) == kVersion && !Skip(*left, 1)) return false;
  // Serial number, signature's algorithm, issuer, validity, subject.
  return Skip(*left, 5) && NextIsPlainKey(*left);
}

bool RequestHasPlainKey(std::string_view der) noexcept {
  auto left = InsideOf(der);
  // Version, subject.
  return left && Skip(*left, 2) && NextIsPlainKey(*left);
}

}  // namespace muster::crypto
