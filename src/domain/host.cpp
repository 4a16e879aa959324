#include "domain/host.hpp"

#include <algorithm>

#include "base/ascii.hpp"
#include "base/text.hpp"

namespace muster {
std::string_view Name(HostState state) noexcept {
  switch (state) {
    case HostState::kActive:
      return "active";
    case HostState::kCopy:
      return "copy";
    case HostState::kRevoked:
      return "revoked";
  }
  return "active";
}

void TakeOver(Host& host, std::string_view label) { std::erase(host.own_labels, label); }

Result<> CheckHostName(std::string_view name) {
  const bool fits = !name.empty() && name.size() <= 253 && IsLetterOrDigit(name.front()) &&
                    std::ranges::all_of(name, [](char c) {
                      return IsLetterOrDigit(c) || c == '.' || c == '_' || c == '-';
                    });
  if (!fits)
    return Fail(ErrorCode::kInvalid,
                "'{}' is not a host name; use 1 to 253 letters, digits, '.', '_' or '-', beginning "
                "with a letter or digit",
                IsUtf8(name) ? name : "(not UTF-8)");
  if (name == "all" || name == "and" || name == "or" || name == "not" || name == "in")
    return Fail(ErrorCode::kInvalid, "'{}' is a word of the target language and cannot name a host",
                name);
  return {};
}

bool Invite::MayAskAgain(WallTime now) const {
  return !server_key.empty() && expires >= now && now <= answered + kServerAsksAgain &&
         answers < kMostServerAnswers;
}

bool MatchesPattern(std::string_view name, std::string_view pattern) noexcept {
  std::size_t n = 0;
  std::size_t p = 0;
  std::size_t star = std::string_view::npos;
  std::size_t retry = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p, ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++retry;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

Result<> CheckLabel(std::string_view key, std::string_view value) {
  const bool key_fits = !key.empty() && key.size() <= 63 && IsLetter(key.front()) &&
                        std::ranges::all_of(key, [](char c) {
                          return IsLetterOrDigit(c) || c == '.' || c == '_' || c == '-' || c == '/';
                        });
  if (!key_fits)
    return Fail(ErrorCode::kInvalid,
                "'{}' is not a label key; use letters, digits, '.', '_', '-', '/', at most 63, "
                "beginning with a letter",
                IsUtf8(key) ? key : "(not UTF-8)");
  if (key.starts_with("fact."))
    return Fail(ErrorCode::kInvalid,
                "label key '{}': 'fact.' is kept for what the agent says of its machine", key);
  if (value.size() > 255 || !IsUtf8(value))
    return Fail(ErrorCode::kInvalid,
                "label '{}': the value must be UTF-8 text of at most 255 bytes", key);
  return {};
}

}  // namespace muster
