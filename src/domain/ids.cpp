#include "domain/ids.hpp"

#include <charconv>

namespace muster {
namespace {

// As FormatRunId writes it: each run has one name.
bool ParseNumber(std::string_view text, std::uint64_t& number) {
  if (text.starts_with('0')) return false;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc{} && end == text.data() + text.size() && !text.empty();
}

}  // namespace

std::string FormatRunId(RunId id) {
  const std::uint64_t space = id.value >> kRunNumberBits;
  const std::uint64_t number = id.value & ((1ULL << kRunNumberBits) - 1);
  return space == 0 ? fmt::format("r{}", number) : fmt::format("r{}.{}", space, number);
}

Result<RunId> ParseRunId(std::string_view text) {
  const auto bad = [&] {
    return Fail(ErrorCode::kInvalid,
                "'{}' is not a run id; ids look like r1042 (see 'muster runs')", text);
  };
  std::string_view rest = text;
  if (rest.starts_with('r')) rest.remove_prefix(1);
  std::uint64_t space = 0;
  std::uint64_t number = 0;
  if (const auto dot = rest.find('.'); dot != std::string_view::npos) {
    if (!ParseNumber(rest.substr(0, dot), space) || space == 0 || space > 0xFFFF) return bad();
    rest.remove_prefix(dot + 1);
  }
  if (!ParseNumber(rest, number) || number == 0 || number >> kRunNumberBits != 0) return bad();
  return MakeRunId(space, number);
}

std::string FormatTaskKey(const TaskKey& key) {
  return fmt::format("{}/{}/{}/h{}/{}", FormatRunId(key.run), key.visit.value, key.ordinal,
                     key.host.value, key.attempt.value);
}

}  // namespace muster

std::size_t std::hash<muster::TaskKey>::operator()(const muster::TaskKey& key) const noexcept {
  std::uint64_t mixed = key.run.value;
  for (std::uint64_t part :
       {static_cast<std::uint64_t>(key.visit.value), static_cast<std::uint64_t>(key.ordinal),
        key.host.value, static_cast<std::uint64_t>(key.attempt.value)})
    mixed = (mixed ^ part) * 0x9E3779B97F4A7C15ULL + (mixed >> 29);
  return static_cast<std::size_t>(mixed);
}
