#include "server/certificates/cluster_keys.hpp"

#include <array>
#include <system_error>

#include <boost/json.hpp>

#include "base/text.hpp"
#include "server/certificates/ca_rotation.hpp"
#include "server/certificates/certificates.hpp"

namespace muster::server {
namespace {

namespace json = boost::json;

struct KeyFile {
  const char* name;
  bool world_readable = false;
};
constexpr std::array<KeyFile, 5> kFiles = {
    {{"seal.key"}, {"token.key"}, {"admin.token"}, {"ca.key"}, {"ca.pem", true}}};

}  // namespace

Result<SecretText> PackClusterKeys(const std::filesystem::path& data) {
  const auto cas = LoadCas(data);
  if (!cas) return Fail(cas.error());
  if (cas->certs.size() > 1)
    return Fail(ErrorCode::kConflict,
                "no server can join while the CA is changed: invite it again after 'musterd ca "
                "drop' on every server");
  json::object packed;
  for (const auto& file : kFiles) {
    auto content = ReadWhole(data / file.name);
    if (!content) return Fail(content.error());
    packed[file.name] = ToBase64(*content);
  }
  std::string text = json::serialize(packed);
  return SecretText::Take(text);
}

Result<> UnpackClusterKeys(const std::filesystem::path& folder, const SecretText& packed) {
  std::error_code problem;
  const auto parsed = json::parse(packed.Reveal(), problem);
  if (problem || !parsed.is_object())
    return Fail(ErrorCode::kInvalid, "what came back are not the keys of a cluster");
  for (const auto& file : kFiles) {
    const auto* value = parsed.as_object().if_contains(file.name);
    const auto content = value != nullptr && value->is_string()
                             ? FromBase64(std::string_view(value->as_string()))
                             : std::nullopt;
    if (!content || content->empty())
      return Fail(ErrorCode::kInvalid, "what came back are not the keys of a cluster: no {}",
                  file.name);
    if (const auto kept = WriteSecret(folder / file.name, *content, file.world_readable); !kept)
      return kept;
  }
  return {};
}

}  // namespace muster::server
