#include "base/similar.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.hpp"

namespace muster {
namespace {

constexpr std::size_t kLongestWord = 64;
constexpr std::size_t kMostSlips = 31;

// How near a name is; a slip counts one more than the last of these.
constexpr std::size_t kSameButCase = 0;
constexpr std::size_t kSameButDomain = 1;
constexpr std::size_t kFirstSlip = 1;
constexpr std::size_t kSameBegin = 10;
constexpr std::size_t kFar = 11;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool SameButCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, Lower, Lower);
}

// The text without its numbers: "web-7.example" and "web-12.example" have one.
std::string WithoutNumbers(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (!IsDigit(c))
      text += c;
    else if (!text.ends_with('0'))
      text += '0';
  }
  return text;
}

// The text without zeros in front of its numbers.
std::string WithoutPadding(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins = i == 0 || !IsDigit(name[i - 1]);
    if (begins)
      while (i + 1 < name.size() && name[i] == '0' && IsDigit(name[i + 1])) ++i;
    text += name[i];
  }
  return text;
}

bool HasDomain(std::string_view longer, std::string_view name) {
  return longer.size() > name.size() && longer.starts_with(name) && longer[name.size()] == '.';
}

}  // namespace

std::size_t Slips(std::string_view a, std::string_view b, std::size_t most) {
  most = std::min(most, kMostSlips);
  const std::size_t far = most + 1;
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > most || a.size() > kLongestWord) return far;
  using Row = std::array<std::uint8_t, kLongestWord + kMostSlips + 2>;
  std::array<Row, 3> rows{};
  Row* before_last = &rows[0];
  Row* last = &rows[1];
  Row* row = &rows[2];
  const auto bounded = [far](std::size_t slips) {
    return static_cast<std::uint8_t>(std::min(slips, far));
  };
  for (std::size_t k = 0; k < last->size(); ++k) (*last)[k] = bounded(k);
  std::size_t least_before = 0;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    // Beyond this band there are more than `most` letters too many.
    const std::size_t from = i > most ? i - most : 1;
    const std::size_t to = std::min(b.size(), i + most);
    (*row)[from - 1] = bounded(from == 1 ? i : far);
    std::size_t least = (*row)[from - 1];
    for (std::size_t k = from; k <= to; ++k) {
      const bool equal = a[i - 1] == b[k - 1];
      std::size_t slips = std::min<std::size_t>(
          {(*last)[k - 1] + (equal ? 0U : 1U), (*last)[k] + 1U, (*row)[k - 1] + 1U});
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
        slips = std::min<std::size_t>(slips, (*before_last)[k - 2] + 1U);
      (*row)[k] = bounded(slips);
      least = std::min<std::size_t>(least, slips);
    }
    (*row)[to + 1] = bounded(far);
    if (least >= far && least_before >= far) return far;
    least_before = least;
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return (*last)[b.size()];
}

NearestName::NearestName(std::string_view typed)
    : typed_(typed), most_(std::min<std::size_t>(2, typed.size() / 3)), rate_(kFar) {}

std::size_t NearestName::Rate(std::string_view name) const {
  if (typed_.empty() || typed_.size() > kLongestWord) return kFar;
  if (SameButCase(typed_, name)) return kSameButCase;
  if (HasDomain(name, typed_) || HasDomain(typed_, name)) return kSameButDomain;
  if (WithoutPadding(typed_) == WithoutPadding(name)) return kFirstSlip;
  if (const std::size_t slips = Slips(typed_, name, most_); slips <= most_)
    return WithoutNumbers(typed_) == WithoutNumbers(name) ? kFar : kFirstSlip + slips;
  constexpr std::size_t kLeastBegin = 3;
  if (typed_.size() < kLeastBegin || !name.starts_with(typed_)) return kFar;
  return IsDigit(name[typed_.size()]) ? kFar : kSameBegin;
}

void NearestName::Offer(std::string_view name) {
  if (rate_ == kSameButCase) return;
  const std::size_t rate = Rate(name);
  if (rate >= rate_) return;
  rate_ = rate;
  best_ = name;
}

std::string NearestName::Hint() const {
  return best_.empty() ? std::string() : fmt::format("; did you mean {}?", best_);
}

}  // namespace muster
