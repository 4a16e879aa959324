#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "adapters/crypto/pki.hpp"
#include "base/instant.hpp"
#include "base/result.hpp"

namespace muster::server {

// The CAs in a data folder, and how one takes the place of another without any agent joining anew:
//
//   add    a new CA is made and trusted (ca.pem, ca-next.key); agents learn of it
//   use    the new one signs (ca.key; the old key is kept as ca-old.key)
//   drop   what does not sign is no longer trusted
//
// Each step takes effect at the server's next start and needs only the folder. Steps write one file
// at a time, so a crash between two leaves a folder that works; doing the step again completes it.

struct Cas {
  crypto::KeyAndCert signer;
  std::string trusted_pem;  // all, the signer first
};

// kConflict when the key is missing or fits none of the certificates.
Result<Cas> LoadCas(const std::filesystem::path& data);

Result<> MakeFirstCa(const std::filesystem::path& data);

struct CaInfo {
  std::string id;  // as hosts tell it in fact.ca
  std::string fingerprint;
  WallTime ends;
  std::string role;  // "signs", "next", "trusted"
};
Result<std::vector<CaInfo>> ListCas(const std::filesystem::path& data);

// Each returns what to do next, for the operator. kConflict when it is not this step's turn.
Result<std::string> AddCa(const std::filesystem::path& data);
Result<std::string> UseCa(const std::filesystem::path& data);
Result<std::string> DropCas(const std::filesystem::path& data);

}  // namespace muster::server
