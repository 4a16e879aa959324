#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.hpp"
#include "base/result.hpp"
#include "domain/command.hpp"
#include "domain/host.hpp"

namespace muster {

// A value that is kept sealed, used by its name and never shown again. Whoever may set it may not
// read it; it leaves the server only in the order of a task that names it, or in a call that the
// server makes itself.
struct Secret {
  std::string name;
  std::string sealed;         // as crypto::Sealer makes it, with the name bound in
  std::uint32_t version = 1;  // grows with each value
  std::string by;             // who set this value
  WallTime at;
  Labels labels;  // for people: whose it is, what it is for

  friend bool operator==(const Secret&, const Secret&) = default;
};

// Names are 1 to 100 of [A-Za-z0-9._-], beginning with a letter or digit: "web.db-password".
Result<> CheckSecretName(std::string_view name);

// Values are 4 bytes to 64 KB, any bytes but NUL, which no environment can hold. A value is masked
// wherever it would come out; with a shorter one that would hit ordinary words.
inline constexpr std::size_t kLeastSecretBytes = 4;
inline constexpr std::size_t kMostSecretBytes = 64 << 10;
Result<> CheckSecretValue(std::string_view value);

// In a document or parameter "secret:NAME" stands for a secret's value: its name, else nothing.
inline constexpr std::string_view kSecretPrefix = "secret:";
std::optional<std::string_view> SecretNamed(std::string_view text) noexcept;

// Gives the value of a secret, or says why not.
using FindSecret = std::function<Result<std::string>(std::string_view name)>;

// What to mask so that a value does not come out: the whole, the whole without the line ends after
// it (which a shell takes away), and its longer lines one by one (of a key, say).
std::vector<std::string> MasksOf(std::string_view value);

// Puts the command's secrets into its environment, each in the place of a variable of that name,
// and adds their masks. When one is missing the command is as it was (find's own error).
Result<> FillSecrets(Command& command, const FindSecret& find);

}  // namespace muster
