#include "adapters/crypto/box.hpp"

#include <sodium.h>

#include "adapters/crypto/bytes.hpp"

namespace muster::crypto {
namespace {

bool Ready() {
  static const bool ready = sodium_init() >= 0;
  return ready;
}

}  // namespace

BoxKeys MakeBoxKeys() {
  MUSTER_CHECK(Ready());
  std::string open(crypto_box_PUBLICKEYBYTES, '\0');
  std::string secret(crypto_box_SECRETKEYBYTES, '\0');
  crypto_box_keypair(Bytes(open), Bytes(secret));
  return {std::move(open), SecretText::Take(secret)};
}

Result<std::string> SealFor(std::string_view public_key, std::string_view value) {
  if (!Ready() || public_key.size() != crypto_box_PUBLICKEYBYTES)
    return Fail(ErrorCode::kInvalid, "expected a public key of {} bytes",
                static_cast<std::size_t>(crypto_box_PUBLICKEYBYTES));
  std::string sealed(value.size() + crypto_box_SEALBYTES, '\0');
  if (crypto_box_seal(Bytes(sealed), Bytes(value), value.size(), Bytes(public_key)) != 0)
    return Fail(ErrorCode::kInvalid, "this is not a public key");
  return sealed;
}

Result<SecretText> OpenBox(const BoxKeys& keys, std::string_view sealed) {
  if (!Ready() || sealed.size() < crypto_box_SEALBYTES)
    return Fail(ErrorCode::kInvalid, "this was not sealed for us");
  std::string value(sealed.size() - crypto_box_SEALBYTES, '\0');
  if (crypto_box_seal_open(Bytes(value), Bytes(sealed), sealed.size(), Bytes(keys.public_key),
                           Bytes(keys.private_key.Reveal())) != 0)
    return Fail(ErrorCode::kInvalid, "this was not sealed for us, or it was changed");
  return SecretText::Take(value);
}

}  // namespace muster::crypto
