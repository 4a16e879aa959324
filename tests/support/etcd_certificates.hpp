#pragma once

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "adapters/crypto/pki.hpp"
#include "adapters/net/client.hpp"
#include "support/temp_folder.hpp"

namespace muster {

// A CA, a certificate of it for an etcd at 127.0.0.1, and one for a client. etcd's serves both
// ends: its gateway uses it to call etcd itself.
struct EtcdCertificates {
  TempFolder folder;
  crypto::KeyAndCert ca = *crypto::MakeCa("etcd CA", std::chrono::hours(24));
  std::string own_key = crypto::GenerateKey();
  std::string own_cert =
      *crypto::SignRequest(ca, *crypto::MakeRequest(own_key, "a"), "a", std::chrono::hours(24));

  std::string File(const std::string& name, const std::string& text = "") const {
    const std::string path = (folder.Path() / name).string();
    if (!text.empty()) std::ofstream(path) << text;
    return path;
  }

  // For etcd.
  std::vector<std::string> Flags() const {
    const std::string ca_file = File("ca.pem", ca.cert_pem);
    const std::string key_file = File("key.pem", crypto::GenerateKey());
    const std::string ext =
        File("ext", "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n");
    const std::string make = fmt::format(
        "openssl req -new -key {0} -subj /CN=etcd -out {1}/req 2>/dev/null && openssl x509 -req "
        "-in {1}/req -CA {2} -CAkey {3} -set_serial 7 -days 1 -extfile {4} -out {1}/cert.pem "
        "2>/dev/null",
        key_file, folder.Path().string(), ca_file, File("ca.key", ca.key_pem), ext);
    if (std::system(make.c_str()) != 0) std::abort();
    return {"--cert-file",       File("cert.pem"), "--key-file",        key_file,
            "--trusted-ca-file", ca_file,          "--client-cert-auth"};
  }
  // For a client.
  net::TlsIdentity Identity() const {
    return {.ca_pem = ca.cert_pem, .key_pem = own_key, .cert_pem = own_cert};
  }
};

}  // namespace muster
