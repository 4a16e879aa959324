#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "adapters/crypto/pki.hpp"
#include "adapters/net/server.hpp"
#include "base/instant.hpp"
#include "base/result.hpp"

namespace muster::server {

struct CertificateSettings {
  std::string listen_host;
  std::string public_url;
  std::string member;  // this server's name, by which the others of its cluster know it
  Duration agent_life = std::chrono::hours(24 * 90);
  Duration server_life = std::chrono::hours(24 * 90);
  // A certificate (chain, leaf first) and key for the API, instead of one signed by our CA.
  std::filesystem::path tls_cert;
  std::filesystem::path tls_key;

  bool OwnTls() const { return !tls_cert.empty(); }
};

// The keys of a cluster, in the data folder:
//
//   ca.pem        CA certificates that are trusted; a second one while the CA is changed
//   ca.key        key of the one that signs
//   server.key, server.pem, server.names    the server's certificate, and for which names it is
//   token.key     what tokens are derived from when the caller names an Idempotency-Key
//   seal.key      what secrets are sealed with (crypto::Sealer)
//   admin.token
//
// Made on the first start, files 0600 (ca.pem 0644): all but the server's certificate as one set
// (key_set.hpp), so that a start that was killed leaves all of them or none.
struct Identity {
  crypto::KeyAndCert ca;       // the CA that signs
  std::string ca_fingerprint;  // SHA-256 of its certificate, hex
  WallTime ca_ends;
  std::string trusted_pem;          // every CA that is trusted; the same text on each server
  std::vector<std::string> ca_ids;  // of those, as in fact.ca; the one that signs first
  crypto::KeyAndCert server;        // signed by our CA: what nodes and other servers see
  crypto::Validity server_validity;
  std::optional<crypto::KeyAndCert> own_tls;  // what callers of the API see instead, if set
  crypto::Validity own_tls_validity;
  std::string admin_token;
  std::string token_key;
  bool fresh = false;  // this start made them

  // What the port shows, each certificate followed by its CA, by which a join token knows it.
  net::ServerTls Tls() const;
  // When the certificate that callers of the API see ends.
  WallTime ApiEnds() const { return own_tls ? own_tls_validity.ends : server_validity.ends; }
};

// Loads what is there and makes what is missing. The server's certificate is for localhost, the
// loopback addresses, this machine's name, the hosts of listen_host and public_url, and those of an
// own certificate for the API. Another one is made when one of these is new, when another CA signs,
// and when two thirds of its life are over.
// kConflict: the CA's key is missing or fits none of its certificates, or a join was begun here and
// has not ended; nothing is made then. One process at a time: the caller holds the folder's lock.
Result<Identity> LoadIdentity(const std::filesystem::path& data,
                              const CertificateSettings& settings, WallTime now);

// The pair of files of a certificate of one's own. kInvalid: one cannot be read or does not load,
// or the key is of another.
Result<crypto::KeyAndCert> ReadOwnTls(const std::filesystem::path& cert,
                                      const std::filesystem::path& key);

// Looks whether a certificate must be replaced now (its time has come, or the files of an own one
// changed) and does so. True when one of them is another one.
Result<bool> RenewServer(const std::filesystem::path& data, const CertificateSettings& settings,
                         WallTime now, Identity& identity);

// A new certificate for a node that is known by `key`. kInvalid when the request is not for that
// key.
Result<std::string> SignForNode(const Identity& identity, const std::string& request_pem,
                                const std::string& key, const std::string& host, Duration life);

// Sentences about certificates that end soon, for the log.
std::vector<std::string> EndingSoon(const Identity& identity, WallTime now);

// The host in a URL, without brackets.
std::string HostOfUrl(const std::string& url);

// Writes a file so that nobody else ever sees it half written or readable. It belongs to the owner
// of its folder when root writes it.
Result<> WriteSecret(const std::filesystem::path& path, const std::string& content,
                     bool world_readable = false);
// kNotFound: it is not there. kInvalid: this user may not read it, with what to do. kUnavailable:
// everything else.
Result<std::string> ReadWhole(const std::filesystem::path& path);

}  // namespace muster::server
