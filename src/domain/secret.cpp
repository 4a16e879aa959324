#include "domain/secret.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace muster {
namespace {

constexpr std::size_t kMostName = 128;

bool IsLetterOrDigit(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

Result<> CheckSecretName(std::string_view name) {
  const auto fits = [](char c) {
    return IsLetterOrDigit(c) || c == '.' || c == '_' || c == '/' || c == '-';
  };
  if (!name.empty() && name.size() <= kMostName && IsLetterOrDigit(name.front()) &&
      std::ranges::all_of(name, fits))
    return {};
  return Fail(ErrorCode::kInvalid,
              "a secret's name is 1 to {} letters, digits and . _ / -, beginning with a letter or "
              "digit",
              kMostName);
}

Result<> CheckSecretValue(std::string_view value) {
  if (value.size() < kLeastSecretBytes)
    return Fail(ErrorCode::kInvalid,
                "a secret has at least {} bytes: a shorter one could not be masked in output",
                kLeastSecretBytes);
  if (value.size() > kMostSecretBytes)
    return Fail(ErrorCode::kInvalid, "a secret has at most {}; this has {}",
                FormatSize(kMostSecretBytes), FormatSize(value.size()));
  if (value.find('\0') != std::string_view::npos)
    return Fail(ErrorCode::kInvalid,
                "a secret holds no NUL byte, as it travels in a task's environment; encode it");
  return {};
}

std::optional<std::string_view> SecretNamed(std::string_view text) noexcept {
  if (!text.starts_with(kSecretPrefix)) return std::nullopt;
  return text.substr(kSecretPrefix.size());
}

}  // namespace muster
