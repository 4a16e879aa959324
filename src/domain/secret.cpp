#include "domain/secret.hpp"

#include <algorithm>

#include "base/ascii.hpp"
#include "base/text.hpp"

namespace muster {
namespace {

constexpr std::size_t kMostSecretName = 100;
constexpr std::size_t kLeastMaskedLine = 8;

}  // namespace

Result<> CheckSecretName(std::string_view name) {
  const auto fits = [](char c) { return IsLetterOrDigit(c) || c == '.' || c == '_' || c == '-'; };
  if (!name.empty() && name.size() <= kMostSecretName && IsLetterOrDigit(name.front()) &&
      std::ranges::all_of(name, fits))
    return {};
  return Fail(ErrorCode::kInvalid,
              "a secret's name is 1 to {} letters, digits and . _ -, beginning with a letter or "
              "digit",
              kMostSecretName);
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

std::vector<std::string> MasksOf(std::string_view value) {
  std::vector<std::string> masks{std::string(value)};
  const auto add = [&](std::string_view text, std::size_t least) {
    if (text.size() >= least && std::ranges::find(masks, text) == masks.end())
      masks.emplace_back(text);
  };
  const auto end = value.find_last_not_of("\r\n");
  add(value.substr(0, end == std::string_view::npos ? 0 : end + 1), kLeastSecretBytes);
  for (auto line : Split(value, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    add(line, kLeastMaskedLine);
  }
  return masks;
}

Result<> FillSecrets(Command& command, const FindSecret& find) {
  auto env = command.env;
  auto masks = command.masks;
  for (const auto& use : command.secrets) {
    auto value = find(use.secret);
    if (!value) return Fail(value.error());
    for (auto& mask : MasksOf(*value)) masks.push_back(std::move(mask));
    std::erase_if(env, [&](const auto& pair) { return pair.first == use.variable; });
    env.emplace_back(use.variable, std::move(*value));
  }
  command.env = std::move(env);
  command.masks = std::move(masks);
  return {};
}

}  // namespace muster
