#include "documents/budget.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "documents/problems.hpp"
#include "domain/host.hpp"
#include "domain/host_ranges.hpp"
#include "domain/target_parser.hpp"

namespace muster::documents {
namespace {

constexpr std::uint64_t kVeryMany = (std::uint64_t{1} << 32) - 1;  // its square fits 64 bits

std::uint64_t NumberIn(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return problem == std::errc{} && end == digits.data() + digits.size() ? number : 0;
}

// Of one bracket's content, "01-03,07".
std::uint64_t CountNumbers(std::string_view list) {
  std::uint64_t count = 0;
  for (const auto item : Split(list, ',')) {
    const auto dash = item.find('-');
    if (dash == std::string_view::npos) {
      ++count;
      continue;
    }
    const auto low = NumberIn(Trim(item.substr(0, dash)));
    const auto high = NumberIn(Trim(item.substr(dash + 1)));
    count += high < low ? 1 : std::min(high - low, kVeryMany) + 1;
  }
  return std::min(count, kVeryMany);
}

}  // namespace

NameExtent MeasureHostNames(std::string_view text) {
  NameExtent all;
  NameExtent part{.names = 1};
  const auto end_part = [&] {
    all.names = std::min(all.names + part.names, kVeryMany);
    all.longest = std::max(all.longest, part.longest);
    part = {.names = 1};
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto close = text[i] == '[' ? text.find_first_of("[]", i + 1) : std::string_view::npos;
    if (text[i] == ',') {
      end_part();
      continue;
    }
    ++part.longest;
    if (close == std::string_view::npos || text[close] == '[') continue;
    part.names = std::min(part.names * CountNumbers(text.substr(i + 1, close - i - 1)), kVeryMany);
    i = close;
  }
  end_part();
  return all;
}

Result<std::vector<std::string>> ReadBudget::Expand(std::string_view text) {
  const auto extent = MeasureHostNames(text);
  if (extent.TooLong())
    return Fail(ErrorCode::kInvalid, "'{}' is too long for a host name", Shortened(text));
  if (auto taken = Take(std::max<std::uint64_t>(extent.names, 1)); !taken)
    return Fail(taken.error());
  auto names = ExpandHostRanges(text);
  if (!names) return names;
  for (const auto& name : *names)
    if (auto good = CheckHostName(name); !good) return Fail(good.error());
  return names;
}

Result<> ReadBudget::CountTargets(std::string_view text) {
  together_ += std::min<std::uint64_t>(MeasureHostNames(text).names, kMaxTargetNames);
  if (together_ <= kMostTogether) return {};
  return Fail(ErrorCode::kInvalid,
              "documents that are read together may name {} hosts; apply them in several calls",
              kMostTogether);
}

Result<> ReadBudget::CountPattern() {
  if (++patterns_ <= kMostPatterns) return {};
  return Fail(ErrorCode::kInvalid,
              "documents that are read together may have {} patterns; apply them in several calls",
              kMostPatterns);
}

Result<> ReadBudget::TakeBytes(std::size_t bytes) {
  bytes_of_document_ += bytes;
  bytes_together_ += bytes;
  if (bytes_of_document_ > kMostBytesOfDocument)
    return Fail(ErrorCode::kInvalid,
                "the stages of a document may have {} of scripts, file lists and limits, counted "
                "for each stage; put a large script on the hosts with 'push' and run it from "
                "there, pack a pushed folder into one archive, or make it several jobs",
                FormatSize(kMostBytesOfDocument));
  if (bytes_together_ > kMostBytesTogether)
    return Fail(ErrorCode::kInvalid,
                "documents that are read together may have {} of scripts, file lists and limits, "
                "counted for each stage; apply them in several calls",
                FormatSize(kMostBytesTogether));
  return {};
}

Result<> ReadBudget::Take(std::uint64_t names) {
  of_document_ += names;
  if (of_document_ > kMostOfDocument)
    return Fail(ErrorCode::kInvalid,
                "a document may name {} hosts; choose them by labels with 'targets' instead",
                kMostOfDocument);
  together_ += names;
  if (together_ > kMostTogether)
    return Fail(ErrorCode::kInvalid,
                "documents that are read together may name {} hosts; apply them in several calls",
                kMostTogether);
  return {};
}

}  // namespace muster::documents
