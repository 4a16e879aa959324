#include "server/api/byte_range.hpp"

#include <algorithm>
#include <charconv>

namespace muster::server::api {
namespace {

// At most eighteen digits, so that sums do not wrap.
std::optional<std::uint64_t> Number(std::string_view text) {
  std::uint64_t number = 0;
  if (text.empty() || text.size() > 18) return {};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size()) return {};
  return number;
}

}  // namespace

RangeAnswer ReadRange(std::string_view header, std::uint64_t size) {
  using Kind = RangeAnswer::Kind;
  const RangeAnswer whole{Kind::kWhole, {0, size}};
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit)) return whole;
  header.remove_prefix(kUnit.size());
  const auto dash = header.find('-');
  if (dash == std::string_view::npos) return whole;
  const auto first = Number(header.substr(0, dash));
  const auto last = Number(header.substr(dash + 1));
  if (dash == 0) {
    if (!last) return whole;
    if (*last == 0 || size == 0) return {Kind::kNone, {}};
    return {Kind::kPart, {size - std::min(*last, size), size}};
  }
  if (!first || (!last && dash + 1 != header.size()) || (last && *last < *first)) return whole;
  if (*first >= size) return {Kind::kNone, {}};
  return {Kind::kPart, {*first, last ? std::min(*last + 1, size) : size}};
}

std::optional<UploadRange> ReadUploadRange(std::string_view header) {
  constexpr std::string_view kUnit = "bytes ";
  if (!header.starts_with(kUnit)) return {};
  header.remove_prefix(kUnit.size());
  const auto slash = header.find('/');
  if (slash == std::string_view::npos) return {};
  const auto size = Number(header.substr(slash + 1));
  const auto range = header.substr(0, slash);
  if (!size) return {};
  if (range == "*") return *size == 0 ? std::optional(UploadRange{}) : std::nullopt;
  const auto dash = range.find('-');
  if (dash == std::string_view::npos) return {};
  const auto first = Number(range.substr(0, dash));
  const auto last = Number(range.substr(dash + 1));
  if (!first || !last || *last < *first || *last >= *size) return {};
  return UploadRange{{*first, *last + 1}, *size};
}

}  // namespace muster::server::api
