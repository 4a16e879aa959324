#include "domain/batches.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "base/text.hpp"

namespace muster {
namespace {

// Of a list that a person wrote; more would only make plans large.
constexpr std::ptrdiff_t kMostSizes = 1'000;

bool ParseCount(std::string_view text, std::uint32_t& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc{} && end == text.data() + text.size();
}

std::uint64_t Grow(std::uint64_t size, const BatchPlan& plan, std::uint32_t steps,
                   std::uint32_t hosts) {
  for (std::uint32_t i = 0; i < steps && size < hosts; ++i) {
    size = size * plan.factor + plan.add.Of(hosts, plan.add.number == 0 ? 0 : 1);
    if (plan.factor == 1 && plan.add.number == 0) break;
  }
  return size;
}

}  // namespace

std::uint32_t HostShare::Of(std::uint32_t hosts, std::uint32_t least) const {
  if (!percent) return number;
  return std::max(least,
                  static_cast<std::uint32_t>(static_cast<std::uint64_t>(hosts) * number / 100));
}

Result<HostShare> ParseHostShare(std::string_view text) {
  HostShare share;
  std::string_view digits = Trim(text);
  if (digits.ends_with('%')) {
    share.percent = true;
    digits.remove_suffix(1);
  }
  if (!ParseCount(digits, share.number) || (share.percent && share.number > 100))
    return Fail(ErrorCode::kInvalid,
                "'{}' is not a number of hosts or a percentage; write for example 5 or 10%", text);
  return share;
}

std::string FormatHostShare(const HostShare& share) {
  return fmt::format("{}{}", share.number, share.percent ? "%" : "");
}

std::uint32_t BatchPlan::Size(std::uint32_t index, std::uint32_t hosts) const {
  if (sizes.empty()) return std::max(1U, hosts);
  const auto last = static_cast<std::uint32_t>(sizes.size() - 1);
  std::uint64_t size = sizes[std::min(index, last)].Of(hosts, 1);
  if (index > last) size = Grow(size, *this, index - last, hosts);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(size, 1, std::max(1U, hosts)));
}

Result<BatchPlan> ParseBatchPlan(std::string_view text) {
  BatchPlan plan;
  std::string_view list = Trim(text);
  if (list.empty()) return plan;
  const auto growth = list.find_first_of("+*");
  if (growth != std::string_view::npos) {
    const char kind = list[growth];
    const auto step = ParseHostShare(list.substr(growth + 1));
    if (!step || step->number == 0 || (kind == '*' && step->percent))
      return Fail(
          ErrorCode::kInvalid,
          "'{}': after '{}' comes how much each batch grows; write for example '20 +10' or '1 *2'",
          text, kind);
    if (kind == '+')
      plan.add = *step;
    else
      plan.factor = step->number;
    list = Trim(list.substr(0, growth));
  }
  if (std::ranges::count(list, ',') >= kMostSizes)
    return Fail(ErrorCode::kInvalid,
                "more than {} sizes of batches; the last one repeats, and '1 *2' or '20 +10' grow",
                kMostSizes);
  for (const auto part : Split(list, ',')) {
    const auto size = ParseHostShare(part);
    if (!size) return Fail(size.error());
    if (size->number == 0)
      return Fail(ErrorCode::kInvalid, "'{}': a batch of 0 hosts never ends; the smallest is 1",
                  text);
    plan.sizes.push_back(*size);
  }
  return plan;
}

std::string FormatBatchPlan(const BatchPlan& plan) {
  std::string out;
  for (const auto& size : plan.sizes) out += (out.empty() ? "" : ",") + FormatHostShare(size);
  if (plan.add.number != 0) out += " +" + FormatHostShare(plan.add);
  if (plan.factor != 1) out += fmt::format(" *{}", plan.factor);
  return out;
}

namespace {

// "2 hosts failed; 1 is tolerated", "3 hosts failed; 10% of 5 hosts are tolerated".
std::string PastLimit(std::uint32_t hosts, std::string_view how, const HostShare& limit,
                      std::uint32_t of) {
  const std::string tolerated = limit.percent ? fmt::format("{}% of {} hosts", limit.number, of)
                                              : fmt::format("{}", limit.number);
  return fmt::format("{} {} {}; {} {} tolerated", hosts, hosts == 1 ? "host" : "hosts", how,
                     tolerated, limit == HostShare{1, false} ? "is" : "are");
}

}  // namespace

std::string WhyBatchEnds(const BatchEnd& end, const BatchLimits& limits, bool last) {
  if (end.failed > limits.max_failures.Of(end.hosts, 0))
    return PastLimit(end.failed, "failed", limits.max_failures, end.hosts);
  if (limits.max_unreachable && end.unreachable > limits.max_unreachable->Of(end.hosts, 0))
    return PastLimit(end.unreachable, end.unreachable == 1 ? "was not reached" : "were not reached",
                     *limits.max_unreachable, end.hosts);
  // A batch says nothing about those behind it when none of its hosts did the work, however many
  // may be unreachable. Hosts that failed, and were allowed to, did it.
  if (last || end.succeeded > 0 || end.failed == end.hosts) return {};
  return end.unreachable == end.hosts ? "no host was reached" : "no host succeeded";
}

}  // namespace muster
