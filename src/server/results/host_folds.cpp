#include "server/results/host_folds.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "base/ascii.hpp"
#include "base/text.hpp"

namespace muster::server {
namespace {

constexpr std::size_t kMaxDigits = 18;  // as host ranges have it: what fits 64 bits

bool IsNumber(std::string_view text) {
  return !text.empty() && text.size() <= kMaxDigits && std::ranges::all_of(text, IsDigit);
}

std::uint64_t ValueOf(std::string_view digits) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// What two names have in common around the one number in which they differ.
struct Around {
  std::string_view before;
  std::string_view after;

  // The number of `name` at that place; nothing when the name is of another shape.
  std::optional<std::string_view> NumberOf(std::string_view name) const {
    if (name.size() <= before.size() + after.size() || !name.starts_with(before) ||
        !name.ends_with(after))
      return std::nullopt;
    const auto number = name.substr(before.size(), name.size() - before.size() - after.size());
    return IsNumber(number) ? std::optional(number) : std::nullopt;
  }
};

std::optional<Around> Common(std::string_view a, std::string_view b) {
  const std::size_t shorter = std::min(a.size(), b.size());
  std::size_t front = 0;
  while (front < shorter && a[front] == b[front]) ++front;
  while (front > 0 && IsDigit(a[front - 1])) --front;
  std::size_t back = 0;
  while (back < shorter - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  while (back > 0 && IsDigit(a[a.size() - back])) --back;
  const Around around{a.substr(0, front), a.substr(a.size() - back)};
  if (!around.NumberOf(a) || !around.NumberOf(b)) return std::nullopt;
  return around;
}

// Whether `b` is what comes after `a` in a range that begins before them, zeros in front included.
bool CountsOn(std::string_view a, std::string_view b) {
  return fmt::format("{:0{}}", ValueOf(a) + 1, a.size()) == b;
}

// The text under way: names that share everything but one number go into one bracket.
class Writer {
 public:
  explicit Writer(std::size_t limit) : limit_(limit) {}

  bool Full() const { return text_.size() + items_.size() >= limit_; }

  void AddName(std::string_view name) {
    if (!items_.empty()) {
      if (const auto number = around_.NumberOf(name)) return Append(*number);
    } else if (!single_.empty()) {
      if (const auto around = Common(single_, name)) {
        around_ = *around;
        items_ = *around_.NumberOf(single_);
        single_ = {};
        return Append(*around_.NumberOf(name));
      }
    }
    Flush();
    single_ = name;
  }

  void AddRange(const Around& around, std::string_view first, std::string_view last) {
    const auto single = single_.empty() ? std::nullopt : around.NumberOf(single_);
    const bool same =
        !items_.empty() && around_.before == around.before && around_.after == around.after;
    if (!same) {
      if (single) single_ = {};
      Flush();
      around_ = around;
      if (single) items_ = *single;
    }
    Append(fmt::format("{}-{}", first, last));
  }

  std::string Finish(std::uint32_t left) {
    Flush();
    if (left > 0) text_ += fmt::format(", … (+{} more)", left);
    return std::move(text_);
  }

 private:
  void Append(std::string_view item) {
    if (!items_.empty()) items_ += ',';
    items_ += item;
  }

  void Flush() {
    if (items_.empty() && single_.empty()) return;
    if (!text_.empty()) text_ += ',';
    if (items_.empty())
      text_ += single_;
    else
      text_ += fmt::format("{}[{}]{}", around_.before, items_, around_.after);
    items_.clear();
    single_ = {};
  }

  const std::size_t limit_;
  std::string text_;
  std::string items_;        // inside the bracket that is open
  Around around_;            // it
  std::string_view single_;  // instead: one name that may become a bracket
};

}  // namespace

HostFolds::HostFolds(std::shared_ptr<const Targets> targets)
    : targets_(std::move(targets)), last_(targets_->size()) {
  // From the back: where in this name the number begins that is one more in the next.
  std::optional<std::size_t> following;
  for (auto i = static_cast<std::uint32_t>(last_.size()); i-- > 0;) {
    std::optional<std::size_t> at;
    if (i + 1 < last_.size()) {
      const auto around = Common(Name(i), Name(i + 1));
      if (around && CountsOn(*around->NumberOf(Name(i)), *around->NumberOf(Name(i + 1))))
        at = around->before.size();
    }
    last_[i] = !at ? i : at == following ? last_[i + 1] : i + 1;
    following = at;
  }
}

std::string HostFolds::Fold(std::span<const IntervalSet::Range> ranges, std::uint32_t count,
                            std::size_t limit) const {
  Writer writer(limit);
  std::uint32_t left = count;
  for (const auto& [begin, end] : ranges) {
    for (std::uint32_t first = begin; first < end && !writer.Full();) {
      const std::uint32_t last = std::min(last_[first], end - 1);
      if (last == first) {
        writer.AddName(Name(first));
      } else {
        const auto around = *Common(Name(first), Name(first + 1));
        writer.AddRange(around, *around.NumberOf(Name(first)), *around.NumberOf(Name(last)));
      }
      left -= last - first + 1;
      first = last + 1;
    }
  }
  return writer.Finish(left);
}

}  // namespace muster::server
