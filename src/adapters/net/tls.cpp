#include "adapters/net/tls.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <sys/socket.h>
#include <vector>

#include <openssl/err.h>
#include <openssl/pem.h>

#include "adapters/crypto/plain_key.hpp"
#include "adapters/net/socket_bio.hpp"
#include "base/text.hpp"

namespace muster::net {
namespace {

using crypto::OpenSslError;
using crypto::X509Ptr;
using StackPtr =
    std::unique_ptr<STACK_OF(X509), decltype([](STACK_OF(X509) * stack) { sk_X509_free(stack); })>;

Result<std::vector<X509Ptr>> ParseCerts(const std::string& pem) {
  crypto::BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  MUSTER_CHECK(bio);
  std::vector<X509Ptr> certs;
  while (X509Ptr cert{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
    certs.push_back(std::move(cert));
  }
  ERR_clear_error();  // the end of the text is an error too
  if (certs.empty()) return Fail(ErrorCode::kInvalid, "no PEM certificate found");
  return certs;
}

// Two of 32 bytes and one for those who must use P-384. The default has groups of finite fields
// too, where the answer to a single hello takes 0.2 s.
constexpr const char* kGroups = "X25519:P-256:P-384";
// Of all certificates that a client shows, bytes. A node's has 530, a server's at most 820 (a name
// of 253 letters); clients other than ours add the CA's, of 490.
constexpr long kMaxShown = 4'096;
// Of those that a server of the cluster shows, which may have a hundred names.
constexpr long kMaxServerShown = 16'384;
// A peer may change its keys so often. It needs to after 2^24 records, which is 256 GB.
constexpr std::uintptr_t kMaxKeyUpdates = 32;

std::uint32_t Number(std::string_view bytes) {
  std::uint32_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

// A part of a message behind its length of so many bytes; the part is then behind `left`.
std::optional<std::string_view> TakePart(std::string_view& left, std::size_t length_bytes) {
  if (left.size() < length_bytes) return std::nullopt;
  const std::size_t size = Number(left.substr(0, length_bytes));
  left.remove_prefix(length_bytes);
  if (left.size() < size) return std::nullopt;
  const std::string_view part = left.substr(0, size);
  left.remove_prefix(size);
  return part;
}

// Whether each certificate in a Certificate message of TLS 1.3 has a key as Muster makes them.
bool ShowsPlainKeys(std::string_view message) {
  if (!TakePart(message, 1)) return false;  // the request's context
  auto list = TakePart(message, 3);
  if (!list) return false;
  while (!list->empty()) {
    const auto cert = TakePart(*list, 3);
    if (!cert || !TakePart(*list, 2) || !crypto::CertHasPlainKey(*cert)) return false;
  }
  return true;
}

// Counts one more; false when they were too many.
bool CountKeyUpdate(SSL* ssl) {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  const auto count = reinterpret_cast<std::uintptr_t>(SSL_get_ex_data(ssl, index)) + 1;
  SSL_set_ex_data(ssl, index, reinterpret_cast<void*>(count));
  return count <= kMaxKeyUpdates;
}

// Sees each message before OpenSSL looks into it. One that is refused is made unreadable in
// OpenSSL's buffer, which is the only way to refuse it before it costs anything: OpenSSL then ends
// the connection, as it does with any such message.
// `plain_keys` is null for a peer that may have keys of any kind.
void OnMessage(int is_sent, int, int type, const void* data, std::size_t size, SSL* ssl,
               void* plain_keys) {
  constexpr std::size_t kHead = 4;            // kind, and length
  constexpr int kCompressedCertificate = 25;  // not every OpenSSL has a name for it
  if (is_sent != 0 || type != SSL3_RT_HANDSHAKE || size <= kHead) return;
  const std::string_view message(static_cast<const char*>(data), size);
  const int kind = message.front();
  const bool refused = (plain_keys != nullptr && kind == SSL3_MT_CERTIFICATE &&
                        !ShowsPlainKeys(message.substr(kHead))) ||
                       (plain_keys != nullptr && kind == kCompressedCertificate) ||
                       (kind == SSL3_MT_KEY_UPDATE && !CountKeyUpdate(ssl));
  if (refused) std::memset(static_cast<char*>(const_cast<void*>(data)) + kHead, 0xFF, size - kHead);
}

// Not null, for OnMessage: the peer shows certificates with keys as Muster makes them.
void* PlainKeys() {
  static char yes;
  return &yes;
}

SslContextPtr NewContext(const SSL_METHOD* method) {
  SslContextPtr context(SSL_CTX_new(method));
  MUSTER_CHECK(context);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
  // Without the automatic chain a node shows its own certificate only: the server knows the CA, and
  // would keep a copy of it for each link.
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_NO_AUTO_CHAIN);
  SSL_CTX_set_options(context.get(), SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_RENEGOTIATION);
  MUSTER_CHECK(SSL_CTX_set1_groups_list(context.get(), kGroups) == 1);
  SSL_CTX_set_msg_callback(context.get(), &OnMessage);
  // One read for a whole record; the buffer is released again when it is empty.
  SSL_CTX_set_read_ahead(context.get(), 1);
  // Sessions are not resumed: links live long, and tickets would cost memory on each.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  return context;
}

Result<> Trust(SSL_CTX* context, const std::string& ca_pem) {
  auto certs = ParseCerts(ca_pem);
  if (!certs) return Fail(ErrorCode::kInvalid, "CA certificate: {}", certs.error().message);
  for (const X509Ptr& cert : *certs) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), cert.get());
  }
  ERR_clear_error();
  return {};
}

Result<> ShowChain(SSL_CTX* context, const std::string& key_pem, const std::string& chain_pem) {
  auto key = crypto::ParseKey(key_pem);
  if (!key) return Fail(ErrorCode::kInvalid, "server key: {}", key.error().message);
  auto chain = ParseCerts(chain_pem);
  if (!chain) return Fail(ErrorCode::kInvalid, "server certificate: {}", chain.error().message);
  if (SSL_CTX_use_certificate(context, chain->front().get()) != 1 ||
      SSL_CTX_use_PrivateKey(context, key->get()) != 1) {
    return Fail(ErrorCode::kInvalid, "server key and certificate: {}", OpenSslError());
  }
  for (std::size_t i = 1; i < chain->size(); ++i) {
    MUSTER_CHECK(SSL_CTX_add1_chain_cert(context, (*chain)[i].get()) == 1);
  }
  return {};
}

void AskForClients(SSL_CTX* context) {
  SSL_CTX_set_msg_callback_arg(context, PlainKeys());
  SSL_CTX_set_max_cert_list(context, kMaxShown);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  STACK_OF(X509_OBJECT)* objects = X509_STORE_get0_objects(SSL_CTX_get_cert_store(context));
  for (int i = 0; i < sk_X509_OBJECT_num(objects); ++i) {
    X509* cert = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(objects, i));
    if (cert != nullptr) SSL_CTX_add_client_CA(context, cert);
  }
}

bool IsAddress(const std::string& host) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

Result<> ExpectHost(SSL* ssl, const std::string& host) {
  if (IsAddress(host)) {
    MUSTER_CHECK(X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1);
  } else if (SSL_set1_host(ssl, host.c_str()) != 1 ||
             SSL_set_tlsext_host_name(ssl, host.c_str()) != 1) {
    return Fail(ErrorCode::kInvalid, "\"{}\" is no usable host name", host);
  }
  return {};
}

// A protocol on the wire of ALPN: its length, then its name.
std::string ClusterProtocolEntry() {
  std::string entry(kClusterProtocol);
  return static_cast<char>(entry.size()) + entry;
}

void AskForCluster(SSL* ssl) {
  const std::string entry = ClusterProtocolEntry();
  MUSTER_CHECK(SSL_set_alpn_protos(ssl, reinterpret_cast<const unsigned char*>(entry.data()),
                                   static_cast<unsigned>(entry.size())) == 0);
}

// Whether a client's hello names the cluster's protocol among those it speaks. The list has two
// bytes of length before its entries.
bool AsksForCluster(SSL* ssl) {
  const unsigned char* data = nullptr;
  std::size_t size = 0;
  if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_application_layer_protocol_negotiation, &data,
                                &size) != 1)
    return false;
  std::string_view list(reinterpret_cast<const char*>(data), size);
  list.remove_prefix(std::min<std::size_t>(2, list.size()));
  while (!list.empty()) {
    const auto length = static_cast<unsigned char>(list.front());
    list.remove_prefix(1);
    if (list.substr(0, length) == kClusterProtocol) return true;
    list.remove_prefix(std::min<std::size_t>(length, list.size()));
  }
  return false;
}

// Where a context keeps the one that is shown to the cluster.
int ClusterIndex() {
  static const int index = SSL_CTX_get_ex_new_index(
      0, nullptr, nullptr, nullptr, [](void*, void* cluster, CRYPTO_EX_DATA*, int, long, void*) {
        SSL_CTX_free(static_cast<SSL_CTX*>(cluster));
      });
  return index;
}

Result<> ShowIdentity(SSL* ssl, const TlsIdentity& identity) {
  if (identity.cert_pem.empty()) return {};
  auto key = crypto::ParseKey(identity.key_pem);
  if (!key) return Fail(ErrorCode::kInvalid, "own key: {}", key.error().message);
  auto cert = crypto::ParseCert(identity.cert_pem);
  if (!cert) return Fail(ErrorCode::kInvalid, "own certificate: {}", cert.error().message);
  if (SSL_use_certificate(ssl, cert->get()) != 1 || SSL_use_PrivateKey(ssl, key->get()) != 1) {
    return Fail(ErrorCode::kInvalid, "own key and certificate: {}", OpenSslError());
  }
  return {};
}

SslPtr NewSsl(SSL_CTX* context, int fd) {
  SslPtr ssl(SSL_new(context));
  MUSTER_CHECK(ssl);
  BIO* bio = NewSocketBio(fd);
  SSL_set_bio(ssl.get(), bio, bio);
  return ssl;
}

Attempt Judge(SSL* ssl, int result, std::size_t bytes) {
  if (result > 0) return {Progress::kDone, bytes, 0, nullptr};
  int system_error = errno;
  switch (SSL_get_error(ssl, result)) {
    case SSL_ERROR_WANT_READ:
      return {Progress::kWantRead, 0, 0, nullptr};
    case SSL_ERROR_WANT_WRITE:
      return {Progress::kWantWrite, 0, 0, nullptr};
    case SSL_ERROR_ZERO_RETURN:
      return {Progress::kEnded, 0, 0, nullptr};
    case SSL_ERROR_SYSCALL:
      ERR_clear_error();
      if (system_error == 0) return {Progress::kEnded, 0, 0, nullptr};
      return {Progress::kFailed, 0, system_error, nullptr};
    default: {
      const char* reason = ERR_reason_error_string(ERR_peek_last_error());
      ERR_clear_error();
      return {Progress::kFailed, 0, 0, reason != nullptr ? reason : "TLS failed"};
    }
  }
}

void Prepare() {
  ERR_clear_error();  // SSL_get_error reads the thread's whole queue
  errno = 0;
}

}  // namespace

Result<SslContextPtr> MakeServerContext(const std::string& key_pem, const std::string& chain_pem,
                                        const std::string& client_ca_pem) {
  SslContextPtr context = NewContext(TLS_server_method());
  if (auto shown = ShowChain(context.get(), key_pem, chain_pem); !shown) {
    return Fail(shown.error());
  }
  if (client_ca_pem.empty()) return context;
  if (auto trusted = Trust(context.get(), client_ca_pem); !trusted) return Fail(trusted.error());
  AskForClients(context.get());
  return context;
}

Result<std::shared_ptr<ClientContext>> ClientContext::Make(const std::string& ca_pem,
                                                           std::string ca_fingerprint) {
  auto made = std::make_shared<ClientContext>();
  made->context_ = NewContext(TLS_client_method());
  SSL_CTX_set_verify(made->get(), SSL_VERIFY_PEER, nullptr);
  if (!ca_pem.empty()) {
    if (auto trusted = Trust(made->get(), ca_pem); !trusted) return Fail(trusted.error());
  } else if (!ca_fingerprint.empty()) {
    made->fingerprint_ = std::move(ca_fingerprint);
    for (char& c : made->fingerprint_) c = static_cast<char>(std::tolower(c));
    SSL_CTX_set_cert_verify_callback(made->get(), &ClientContext::Verify, made.get());
  } else {
    SSL_CTX_set_default_verify_paths(made->get());
  }
  return made;
}

// Trusts the certificate with the right fingerprint among those the server sent, if there is one,
// and then checks the chain and the host name as always.
int ClientContext::Verify(X509_STORE_CTX* store, void* self) {
  StackPtr trusted(sk_X509_new_null());
  MUSTER_CHECK(trusted);
  STACK_OF(X509)* sent = X509_STORE_CTX_get0_untrusted(store);
  for (int i = 0; i < sk_X509_num(sent); ++i) {
    X509* cert = sk_X509_value(sent, i);
    if (crypto::FingerprintOfX509(cert) == static_cast<ClientContext*>(self)->fingerprint_) {
      sk_X509_push(trusted.get(), cert);
    }
  }
  X509_STORE_CTX_set0_trusted_stack(store, trusted.get());
  return X509_verify_cert(store);
}

void ShowToCluster(SSL_CTX* api, SslContextPtr cluster) {
  // Lives as long as the context it belongs to, which open handshakes keep.
  MUSTER_CHECK(SSL_CTX_set_ex_data(api, ClusterIndex(), cluster.release()) == 1);
  SSL_CTX_set_client_hello_cb(
      api,
      [](SSL* ssl, int*, void*) {
        auto* for_cluster =
            static_cast<SSL_CTX*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), ClusterIndex()));
        if (for_cluster != nullptr && AsksForCluster(ssl)) SSL_set_SSL_CTX(ssl, for_cluster);
        return SSL_CLIENT_HELLO_SUCCESS;
      },
      nullptr);
}

SslPtr NewServerSsl(SSL_CTX* context, int fd) {
  SslPtr ssl = NewSsl(context, fd);
  SSL_set_accept_state(ssl.get());
  return ssl;
}

Result<SslPtr> NewClientSsl(const ClientContext& context, const TlsIdentity& identity,
                            const std::string& host, int fd) {
  SslPtr ssl = NewSsl(context.get(), fd);
  SSL_set_connect_state(ssl.get());
  if (identity.NeedsTls()) {
    AskForCluster(ssl.get());
    SSL_set_msg_callback_arg(ssl.get(), PlainKeys());
    SSL_set_max_cert_list(ssl.get(), kMaxServerShown);
  }
  // The system's CAs certify names for anybody, and know nothing of members.
  if (!identity.member.empty() && identity.ca_pem.empty())
    return Fail(ErrorCode::kInvalid, "no CA of the cluster to know the server {} by",
                identity.member);
  if (identity.member.empty())
    if (auto expected = ExpectHost(ssl.get(), host); !expected) return Fail(expected.error());
  if (auto shown = ShowIdentity(ssl.get(), identity); !shown) return Fail(shown.error());
  return ssl;
}

Result<> CheckMember(const SSL* ssl, const TlsIdentity& identity) {
  if (identity.member.empty()) return {};
  const std::string shown = PeerServerOf(ssl);
  if (shown == identity.member) return {};
  if (shown.empty())
    return Fail(ErrorCode::kDenied,
                "its certificate is not one of a server of this cluster; this should be the server "
                "{}",
                identity.member);
  return Fail(ErrorCode::kDenied, "it is the server {}, not {}", shown, identity.member);
}

Attempt TryHandshake(SSL* ssl) {
  Prepare();
  return Judge(ssl, SSL_do_handshake(ssl), 0);
}

Attempt TryRead(SSL* ssl, void* data, std::size_t size) {
  Prepare();
  std::size_t bytes = 0;
  return Judge(ssl, SSL_read_ex(ssl, data, size, &bytes), bytes);
}

Attempt TryWrite(SSL* ssl, const void* data, std::size_t size) {
  Prepare();
  std::size_t bytes = 0;
  return Judge(ssl, SSL_write_ex(ssl, data, size, &bytes), bytes);
}

Attempt SocketAttempt(ssize_t result) {
  if (result > 0) return {Progress::kDone, static_cast<std::size_t>(result), 0, nullptr};
  if (result == 0) return {Progress::kEnded, 0, 0, nullptr};
  return {Progress::kFailed, 0, errno, nullptr};
}

std::string FailureText(const Attempt& attempt, const SSL* ssl) {
  if (attempt.progress == Progress::kEnded) return "the peer closed the connection";
  if (ssl != nullptr && CertificateRefused(ssl)) {
    return X509_verify_cert_error_string(SSL_get_verify_result(ssl));
  }
  if (attempt.reason != nullptr) return attempt.reason;
  return std::strerror(attempt.system_error);
}

bool CertificateRefused(const SSL* ssl) { return SSL_get_verify_result(ssl) != X509_V_OK; }

std::string PeerKeyOf(const SSL* ssl) {
  X509* cert = SSL_get0_peer_certificate(ssl);
  return cert != nullptr ? crypto::KeyIdOfX509(cert) : std::string();
}

std::string PeerServerOf(const SSL* ssl) {
  X509* cert = SSL_get0_peer_certificate(ssl);
  return cert != nullptr ? crypto::MemberOfX509(cert) : std::string();
}

std::string PeerRootOf(SSL* ssl) {
  STACK_OF(X509)* chain = SSL_get0_verified_chain(ssl);
  int size = chain != nullptr ? sk_X509_num(chain) : 0;
  return size > 0 ? crypto::CertToPem(sk_X509_value(chain, size - 1)) : std::string();
}

}  // namespace muster::net
