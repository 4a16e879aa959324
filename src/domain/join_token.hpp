#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace muster {

// What `muster agents invite` and `muster servers invite` print: the CA's fingerprint, so that the
// newcomer knows whom to believe, and a secret, so that the server knows the newcomer was invited.
// "mj1.<fingerprint>.<secret>", hex.
struct JoinToken {
  std::string ca_fingerprint;
  std::string secret;
};

inline std::string FormatJoinToken(const JoinToken& token) {
  return "mj1." + token.ca_fingerprint + "." + token.secret;
}

// `maker` is the command that prints tokens of the kind that is wanted. kInvalid names it.
inline Result<JoinToken> ParseJoinToken(std::string_view text,
                                        std::string_view maker = "muster agents invite") {
  const auto bad = [&] {
    return Fail(ErrorCode::kInvalid, "this is not a join token; '{}' prints one (mj1.…)", maker);
  };
  if (!text.starts_with("mj1.")) return bad();
  text.remove_prefix(4);
  const auto dot = text.find('.');
  if (dot != 64 || text.size() < dot + 33) return bad();
  const auto hex = [](std::string_view part) {
    return part.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  };
  if (!hex(text.substr(0, dot)) || !hex(text.substr(dot + 1))) return bad();
  return JoinToken{std::string(text.substr(0, dot)), std::string(text.substr(dot + 1))};
}

}  // namespace muster
