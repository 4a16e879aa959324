#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace muster {

enum class ParamType : std::uint8_t { kString, kInteger, kNumber, kBoolean, kChoice, kSecret };
std::string_view Name(ParamType type) noexcept;
std::optional<ParamType> ParamTypeOf(std::string_view name) noexcept;

// A parameter as a job declares it.
struct ParamSpec {
  std::string name;
  ParamType type = ParamType::kString;
  bool required = false;
  std::optional<std::string> fallback = {};  // `default`; of a secret "secret:NAME"
  std::string pattern = {};                  // RE2, unanchored; "" is any
  std::vector<std::string> choices = {};
  std::string description = {};

  friend bool operator==(const ParamSpec&, const ParamSpec&) = default;
};

// A parameter's value becomes a variable of the environment, which Linux bounds at 128 KiB with its
// name.
constexpr std::size_t kMaxParamBytes = 127 << 10;

// All values of a run together, as its tasks get all of them.
constexpr std::size_t kMaxParamsBytes = 1 << 20;
constexpr std::size_t kMaxParams = 500;

bool IsSecretReference(std::string_view text);  // "secret:NAME"

// A pattern is compiled for each start; RE2 would give a large one 8 MB, and that each time.
constexpr std::size_t kMaxPatternBytes = 1'000;
constexpr std::size_t kMaxPatterns = 100;            // of one job
constexpr std::size_t kMaxPatternsBytes = 10 << 10;  // of one job, together

// kInvalid with a sentence: it is no expression of RE2, or too large.
Result<> CheckPattern(const std::string& pattern);

// kInvalid with a sentence that names the parameter: the value has another type, is none of the
// choices, does not match the pattern (or CheckPattern refuses that), or is too long.
Result<> CheckParam(const ParamSpec& param, const std::string& value);

}  // namespace muster
