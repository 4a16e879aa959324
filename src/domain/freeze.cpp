#include "domain/freeze.hpp"

#include <charconv>

#include <fmt/format.h>

#include "base/text.hpp"

namespace muster {

std::string_view Name(FreezeScope scope) noexcept {
  switch (scope) {
    case FreezeScope::kTriggers:
      return "triggers";
    case FreezeScope::kEvents:
      return "events";
    case FreezeScope::kAll:
      return "all";
  }
  return "";
}

std::optional<FreezeScope> ParseFreezeScope(std::string_view text) noexcept {
  for (const auto scope : {FreezeScope::kTriggers, FreezeScope::kEvents, FreezeScope::kAll})
    if (Name(scope) == text) return scope;
  return std::nullopt;
}

std::string FormatFreezeId(std::uint64_t id) { return fmt::format("f{}", id); }

Result<std::uint64_t> ParseFreezeId(std::string_view text) {
  std::uint64_t id = 0;
  const std::string_view digits = text.starts_with('f') ? text.substr(1) : std::string_view();
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || id == 0)
    return Fail(ErrorCode::kInvalid, "'{}' is no freeze; they are called f1, f2, …", text);
  return id;
}

std::string Describe(const Freeze& freeze) {
  std::string what = freeze.scope == FreezeScope::kAll
                         ? "all runs"
                         : fmt::format("runs of {}", Name(freeze.scope));
  if (!freeze.job.empty()) what += fmt::format(" of job {}", freeze.job);
  if (!freeze.targets.empty()) what += fmt::format(" on '{}'", freeze.targets);
  const std::string until = freeze.until ? " until " + FormatTime(freeze.until) : "";
  return fmt::format("{} ({}, by {}{}): {}", FormatFreezeId(freeze.id), what, freeze.by, until,
                     freeze.reason);
}

}  // namespace muster
