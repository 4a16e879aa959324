#include "fleet/host_set.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "domain/host.hpp"
#include "domain/host_ranges.hpp"

namespace muster::fleet {
namespace {

// At commas that are not inside brackets.
std::vector<std::string> Parts(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

}  // namespace

Result<HostSet> HostSet::Of(std::string_view text) {
  HostSet set;
  for (const auto& part : Parts(text)) {
    if (part.empty()) return Fail(ErrorCode::kInvalid, "'{}': a name is missing", text);
    if (part.contains('*')) {
      set.patterns_.push_back(part);
      continue;
    }
    const auto names = ExpandHostRanges(part, 200'000);
    if (!names) return Fail(names.error());
    set.names_.insert(names->begin(), names->end());
  }
  return set;
}

Result<std::pair<HostSet, std::string>> HostSet::Before(std::string_view option,
                                                        std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos)
    return Fail(ErrorCode::kInvalid, "{} {}: write HOSTS=VALUE", option, text);
  auto set = Of(text.substr(0, equals));
  if (!set) return Fail(ErrorCode::kInvalid, "{}: {}", option, set.error().message);
  return std::pair(std::move(*set), std::string(text.substr(equals + 1)));
}

bool HostSet::Has(const std::string& host) const {
  return names_.contains(host) || std::ranges::any_of(patterns_, [&](const auto& pattern) {
           return MatchesPattern(host, pattern);
         });
}

}  // namespace muster::fleet
