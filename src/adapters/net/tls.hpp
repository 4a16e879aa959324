#pragma once

#include <memory>
#include <string>

#include <openssl/ssl.h>

#include "adapters/crypto/openssl.hpp"
#include "adapters/net/client.hpp"
#include "base/result.hpp"

// TLS 1.3 on a non-blocking socket of ours: contexts, and single attempts that never wait.
namespace muster::net {

using SslPtr = std::unique_ptr<SSL, crypto::Deleter<SSL_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, crypto::Deleter<SSL_CTX_free>>;

// For a server that asks for client certificates of `client_ca_pem` (not at all when empty) and
// also serves those who have none. kInvalid when a text is not what it should be.
Result<SslContextPtr> MakeServerContext(const std::string& key_pem, const std::string& chain_pem,
                                        const std::string& client_ca_pem);

// What many client connections share: whom they believe.
class ClientContext {
 public:
  static Result<std::shared_ptr<ClientContext>> Make(const std::string& ca_pem,
                                                     std::string ca_fingerprint);
  SSL_CTX* get() const { return context_.get(); }

 private:
  static int Verify(X509_STORE_CTX* store, void* self);

  SslContextPtr context_;
  std::string fingerprint_;
};

// How a client asks for the certificate of the cluster's CA (ALPN).
inline constexpr std::string_view kClusterProtocol = "muster";

// Clients that ask for kClusterProtocol are shown what `cluster` shows, all others what `api` does.
void ShowToCluster(SSL_CTX* api, SslContextPtr cluster);

SslPtr NewServerSsl(SSL_CTX* context, int fd);

// Checks the server's certificate against `host`, a name or an address, unless the identity names a
// member; shows the identity's own certificate when it has one. kInvalid: the identity cannot be
// used.
Result<SslPtr> NewClientSsl(const ClientContext& context, const TlsIdentity& identity,
                            const std::string& host, int fd);

// After the handshake, before anything is sent: whether the server is the member that the identity
// names, if it does. kDenied says who it is instead.
Result<> CheckMember(const SSL* ssl, const TlsIdentity& identity);

enum class Progress {
  kDone,
  kWantRead,   // try again when the socket is readable
  kWantWrite,  // try again when the socket is writable
  kEnded,      // the peer closed
  kFailed,
};

struct Attempt {
  Progress progress = Progress::kDone;
  std::size_t bytes = 0;
  int system_error = 0;          // errno of a failure of the socket; otherwise 0 and
  const char* reason = nullptr;  // OpenSSL's words, static
};

Attempt TryHandshake(SSL* ssl);
Attempt TryRead(SSL* ssl, void* data, std::size_t size);
Attempt TryWrite(SSL* ssl, const void* data, std::size_t size);

// An attempt on the bare socket, by its return value and errno.
Attempt SocketAttempt(ssize_t result);

// Why an attempt failed, for an operator; looks at the certificate check too.
std::string FailureText(const Attempt& attempt, const SSL* ssl);

// True when a handshake failed because we did not believe the peer's certificate.
bool CertificateRefused(const SSL* ssl);

// Key id of the peer's certificate, "" without one.
std::string PeerKeyOf(const SSL* ssl);

// The name of the server whose certificate the peer showed (crypto::MakeMemberCert), "" for anyone
// else.
std::string PeerServerOf(const SSL* ssl);

// The certificate at the root of the peer's verified chain, PEM, "" when there is none.
std::string PeerRootOf(SSL* ssl);

}  // namespace muster::net
