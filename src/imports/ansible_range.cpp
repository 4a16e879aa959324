#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.hpp"
#include "documents/problems.hpp"
#include "imports/ansible.hpp"

namespace muster::imports {
namespace {

constexpr std::size_t kMostPattern = 500;

bool IsNumber(std::string_view text) {
  return !text.empty() && text.size() <= 9 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool IsOneLetter(std::string_view text) {
  return text.size() == 1 &&
         ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'));
}

std::uint32_t NumberOf(std::string_view text) {
  std::uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// "01:50:2" or "a:f".
Result<std::vector<std::string>> ExpandBracket(std::string_view range, std::size_t most) {
  const auto parts = Split(range, ':');
  const auto bad = [&] {
    return Fail(ErrorCode::kInvalid, "'[{}]': expected a range like [01:20], [1:9:2] or [a:f]",
                range);
  };
  if (parts.size() < 2 || parts.size() > 3) return bad();
  const std::uint32_t step = parts.size() == 3 && IsNumber(parts[2]) ? NumberOf(parts[2]) : 1;
  if ((parts.size() == 3 && !IsNumber(parts[2])) || step == 0) return bad();
  std::vector<std::string> out;
  if (IsOneLetter(parts[0]) && IsOneLetter(parts[1]) && parts[0] <= parts[1]) {
    for (int c = parts[0][0]; c <= parts[1][0]; c += static_cast<int>(std::min(step, 100U)))
      out.emplace_back(1, static_cast<char>(c));
    return out;
  }
  const std::string_view first = parts[0].empty() ? "0" : parts[0];
  if (!IsNumber(first) || !IsNumber(parts[1]) || NumberOf(first) > NumberOf(parts[1])) return bad();
  const bool padded = first.size() > 1 && first.front() == '0';
  if (padded && first.size() != parts[1].size())
    return Fail(ErrorCode::kInvalid, "'[{}]': both ends must have as many digits", range);
  const std::uint64_t last = NumberOf(parts[1]);
  if ((last - NumberOf(first)) / step >= most)
    return Fail(ErrorCode::kInvalid, "'[{}]' means more than {} names", range, most);
  for (std::uint64_t number = NumberOf(first); number <= last; number += step)
    out.push_back(fmt::format("{:0{}}", number, padded ? first.size() : 1));
  return out;
}

}  // namespace

Result<std::vector<std::string>> ExpandAnsibleRange(std::string_view pattern, std::size_t most) {
  std::vector<std::string> out{""};
  auto rest = pattern;
  while (!rest.empty()) {
    const auto open = rest.find_first_of("[]");
    for (auto& begun : out) begun += rest.substr(0, open);
    if (open == std::string_view::npos) break;
    const auto close = rest.find_first_of("[]", open + 1);
    if (rest[open] == ']' || close == std::string_view::npos || rest[close] == '[')
      return Fail(ErrorCode::kInvalid, "'{}': a bracket has no partner", pattern);
    const auto values = ExpandBracket(rest.substr(open + 1, close - open - 1), most);
    if (!values) return Fail(values.error());
    if (values->size() > most / out.size())
      return Fail(ErrorCode::kInvalid, "'{}' means more than {} names", pattern, most);
    std::vector<std::string> longer;
    longer.reserve(out.size() * values->size());
    for (const auto& begun : out)
      for (const auto& value : *values) longer.push_back(begun + value);
    out = std::move(longer);
    rest.remove_prefix(close + 1);
  }
  return out;
}

std::pair<std::string_view, std::string_view> CutPort(std::string_view pattern) {
  const auto colon = pattern.rfind(':');
  const auto bracket = pattern.rfind(']');
  const bool outside =
      bracket == std::string_view::npos || (colon != std::string_view::npos && colon > bracket);
  if (colon == std::string_view::npos || !outside || !IsNumber(pattern.substr(colon + 1)))
    return {pattern, ""};
  return {pattern.substr(0, colon), pattern.substr(colon + 1)};
}

void AddPattern(AnsibleInventory& inventory, std::string_view pattern, Position at,
                const std::string& group, const AnsibleVars& vars, Findings& findings) {
  const auto [name, port] = CutPort(pattern);
  if (!port.empty())
    findings.Remark(at, "the port behind a host's name was left out: agents connect by themselves");
  // Every name of a range would be as long.
  if (name.size() > kMostPattern)
    return findings.Wrong(at, "'{}' is too long for a host name", documents::Shortened(name));
  if (inventory.named >= kMostInventoryMembers)
    return findings.Wrong(at, "more than {} hosts over all groups", kMostInventoryMembers);
  const auto names = ExpandAnsibleRange(name, kMostInventoryHosts);
  if (!names) return findings.Wrong(at, "{}", names.error().message);
  inventory.named += names->size();
  inventory.given += names->size() * vars.size();
  if (inventory.given > kMostInventoryLabels)
    return findings.Wrong(at, "more than {} variables over all hosts", kMostInventoryLabels);
  for (const auto& each : *names) {
    if (findings.Full()) return;
    inventory.Add(each, at, group, vars, findings);
  }
}

void AnsibleInventory::Add(const std::string& name, Position at, const std::string& group,
                           const AnsibleVars& vars, Findings& findings) {
  if (const auto good = CheckHostName(name); !good)
    return findings.Wrong(at, "{}", good.error().message);
  const auto [host, fresh] = hosts.try_emplace(name, AnsibleHost{at, {}});
  if (fresh) {
    if (order.size() == kMostInventoryHosts)
      return findings.Wrong(at, "more than {} hosts", kMostInventoryHosts);
    order.push_back(name);
  }
  for (const auto& [key, value] : vars) host->second.vars[key] = value;
  if (!group.empty()) groups[group].hosts.insert(host->first);
}

}  // namespace muster::imports
