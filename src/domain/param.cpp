#include "domain/param.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <memory>

#include <fmt/ranges.h>
#include <re2/re2.h>

#include "base/text.hpp"

namespace muster {
namespace {

constexpr std::string_view kTypes[] = {"string",  "integer", "number",
                                       "boolean", "choice",  "secret"};
constexpr std::string_view kSecretPrefix = "secret:";
constexpr std::size_t kMostSecretName = 100;

template <typename Number>
std::optional<Number> WholeText(std::string_view text) {
  Number number{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool IsNumber(std::string_view text) {
  const auto number = WholeText<double>(text);
  return number && std::isfinite(*number);
}

// A value as a message shows it: one line, and not all of a long one.
std::string Excerpt(std::string_view value) { return CutLine(value, 40); }

Result<std::unique_ptr<const RE2>> Compile(const std::string& pattern) {
  if (pattern.size() > kMaxPatternBytes)
    return Fail(ErrorCode::kInvalid, "'{}' is longer than {} bytes", Excerpt(pattern),
                kMaxPatternBytes);
  RE2::Options options(RE2::Quiet);
  options.set_max_mem(1 << 20);
  auto compiled = std::make_unique<const RE2>(pattern, options);
  if (compiled->ok()) return compiled;
  return Fail(ErrorCode::kInvalid, "'{}' is not a regular expression (RE2): {}", Excerpt(pattern),
              compiled->error());
}

Result<> CheckType(const ParamSpec& param, const std::string& value) {
  const auto wrong = [&](std::string_view expected) {
    return Fail(ErrorCode::kInvalid, "parameter '{}': '{}' is not {}", param.name, Excerpt(value),
                expected);
  };
  switch (param.type) {
    case ParamType::kString:
      return {};
    case ParamType::kInteger:
      if (!WholeText<std::int64_t>(value)) return wrong("a whole number");
      return {};
    case ParamType::kNumber:
      if (!IsNumber(value)) return wrong("a number");
      return {};
    case ParamType::kBoolean:
      if (value != "true" && value != "false") return wrong("true or false");
      return {};
    case ParamType::kChoice:
      if (std::ranges::find(param.choices, value) == param.choices.end())
        return wrong(fmt::format("one of {}", fmt::join(param.choices, ", ")));
      return {};
    case ParamType::kSecret:
      // Not a word of it: it may be the secret itself.
      if (!IsSecretReference(value))
        return Fail(ErrorCode::kInvalid,
                    "parameter '{}' is a secret: keep it with 'muster secrets set NAME' and say "
                    "secret:NAME here",
                    param.name);
      return {};
  }
  return {};
}

}  // namespace

std::string_view Name(ParamType type) noexcept { return kTypes[static_cast<std::size_t>(type)]; }

std::optional<ParamType> ParamTypeOf(std::string_view name) noexcept {
  const auto found = std::ranges::find(kTypes, name);
  if (found == std::end(kTypes)) return std::nullopt;
  return static_cast<ParamType>(found - std::begin(kTypes));
}

bool IsSecretReference(std::string_view text) {
  if (!text.starts_with(kSecretPrefix)) return false;
  const auto name = text.substr(kSecretPrefix.size());
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  return !name.empty() && name.size() <= kMostSecretName && is_word(name.front()) &&
         std::ranges::all_of(
             name, [&](char c) { return is_word(c) || c == '.' || c == '_' || c == '-'; });
}

Result<> CheckPattern(const std::string& pattern) {
  auto compiled = Compile(pattern);
  if (!compiled) return Fail(compiled.error());
  return {};
}

Result<> CheckParam(const ParamSpec& param, const std::string& value) {
  if (value.size() > kMaxParamBytes)
    return Fail(ErrorCode::kInvalid,
                "parameter '{}' has {} bytes, and a variable of the environment takes {} at most; "
                "send it as a file ('push')",
                param.name, value.size(), kMaxParamBytes);
  if (auto good = CheckType(param, value); !good) return good;
  if (param.pattern.empty() || param.type == ParamType::kSecret) return {};
  const auto pattern = Compile(param.pattern);
  if (!pattern)
    return Fail(ErrorCode::kInvalid, "parameter '{}': its pattern {}", param.name,
                pattern.error().message);
  if (RE2::PartialMatch(value, **pattern)) return {};
  return Fail(ErrorCode::kInvalid, "parameter '{}': '{}' does not match {}", param.name,
              Excerpt(value), Excerpt(param.pattern));
}

}  // namespace muster
