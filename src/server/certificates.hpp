#pragma once

#include <filesystem>
#include <string>

#include "adapters/crypto/pki.hpp"
#include "base/result.hpp"

namespace muster::server {

// The keys of a cluster, in the data folder: ca.key, ca.pem, server.key, server.pem, admin.token.
// Made on the first start, files 0600 (ca.pem 0644).
struct Identity {
  crypto::KeyAndCert ca;
  std::string ca_fingerprint;  // SHA-256, hex
  crypto::KeyAndCert server;
  std::string admin_token;
  bool fresh = false;  // this start made them
};

// Loads what is there and makes what is missing. The server's certificate is for localhost, the
// loopback addresses, this machine's name, `listen_host` and the host of `public_url`; it is made
// anew when one of these is new.
Result<Identity> LoadIdentity(const std::filesystem::path& data, const std::string& listen_host,
                              const std::string& public_url);

// Writes a file so that nobody else ever sees it half written or readable.
Result<> WriteSecret(const std::filesystem::path& path, const std::string& content,
                     bool world_readable = false);
Result<std::string> ReadWhole(const std::filesystem::path& path);

}  // namespace muster::server
