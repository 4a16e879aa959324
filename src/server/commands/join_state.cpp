#include "server/commands/join_state.hpp"

#include <optional>
#include <utility>

#include <boost/json.hpp>

#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"
#include "server/certificates/certificates.hpp"

namespace muster::server {
namespace {

namespace json = boost::json;

// The token itself is a secret that nothing here needs.
std::string JoinId(const JoinAttempt& join) {
  return ToHex(crypto::Sha256(join.token + "\n" + join.name));
}

// One join's part of the file; nothing when the file is of another join, or not there.
Result<std::optional<json::object>> ReadJoinState(const std::filesystem::path& data,
                                                  const JoinAttempt& join) {
  const auto path = data / kJoinStateFile;
  const auto text = ReadWhole(path);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!text) return Fail(text.error());
  boost::system::error_code problem;
  auto value = json::parse(*text, problem);
  if (problem || !value.is_object())
    return Fail(ErrorCode::kInvalid, "{} is damaged; remove it, and join with a new token",
                path.string());
  const auto* id = value.as_object().if_contains("join");
  if (id == nullptr || !id->is_string() || id->as_string() != JoinId(join)) return std::nullopt;
  return std::move(value.as_object());
}

std::string BytesAt(const json::object& object, const char* name) {
  const auto* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return "";
  return FromBase64(std::string_view(value->as_string())).value_or("");
}

}  // namespace

Result<crypto::BoxKeys> KeysOfJoin(const std::filesystem::path& data, const JoinAttempt& join) {
  const auto kept = ReadJoinState(data, join);
  if (!kept) return Fail(kept.error());
  if (*kept) {
    std::string secret = BytesAt(**kept, "private_key");
    crypto::BoxKeys keys{BytesAt(**kept, "public_key"), SecretText::Take(secret)};
    if (!keys.public_key.empty() && !keys.private_key.empty()) return keys;
  }
  crypto::BoxKeys keys = crypto::MakeBoxKeys();
  const json::object state{{"join", JoinId(join)},
                           {"public_key", ToBase64(keys.public_key)},
                           {"private_key", ToBase64(keys.private_key.Reveal())}};
  if (auto written = WriteSecret(data / kJoinStateFile, json::serialize(state) + "\n"); !written)
    return Fail(written.error());
  return keys;
}

Result<> NoteJoined(const std::filesystem::path& folder, const JoinAttempt& join) {
  const json::object state{{"join", JoinId(join)}, {"joined", true}};
  return WriteSecret(folder / kJoinStateFile, json::serialize(state) + "\n");
}

bool HasJoined(const std::filesystem::path& data, const JoinAttempt& join) {
  const auto kept = ReadJoinState(data, join);
  return kept && *kept && (*kept)->contains("joined");
}

}  // namespace muster::server
