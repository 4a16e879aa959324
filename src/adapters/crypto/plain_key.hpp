#pragma once

#include <string_view>

// What kind of key is in a certificate or a request, by its bytes alone. OpenSSL decodes a key as
// soon as it reads what holds it, before anybody can refuse the kind: a point on a curve that its
// maker chose can cost it a second. So ask here first when the bytes come from outside.
namespace muster::crypto {

// Whether the DER text is a certificate (a PKCS #10 request) for an ECDSA key on the named curve
// P-256 with an uncompressed point, as Muster makes all its keys. False also for text that is not
// of this shape; true says nothing of the rest of it.
bool CertHasPlainKey(std::string_view der) noexcept;
bool RequestHasPlainKey(std::string_view der) noexcept;

}  // namespace muster::crypto
