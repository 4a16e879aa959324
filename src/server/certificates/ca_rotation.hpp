#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "adapters/crypto/pki.hpp"
#include "base/instant.hpp"
#include "base/result.hpp"

namespace muster::server {

// The CAs in a data folder, and how one takes the place of another without any agent joining again:
//
//   add    a new CA is made, or brought from another server of the cluster, and trusted (ca.pem,
//          ca-next.key); agents get it
//   use    the new one signs (ca.key; the old key is kept as ca-old.key)
//   undo   takes a use back
//   drop   the CAs that do not sign are no longer trusted
//
// Each step takes effect at the server's next start and needs only the folder. Steps write one file
// at a time, so a crash between two leaves a folder that works; doing the step again completes it.
// Whether a step cuts off anyone is not looked at here: see ca_state.hpp.

struct Cas {
  crypto::KeyAndCert signer;
  std::vector<std::string> certs = {};  // all that are trusted, the signer first
  std::vector<std::string> ids = {};    // theirs, as hosts tell them in fact.ca
  // All, in an order that does not depend on who signs: each server of a cluster gives its agents
  // the same text, also while only some of them use the new CA.
  std::string trusted_pem = {};
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
// The same with what ExportNextCa gave on another server. kInvalid: that is something else;
// kConflict: it is of another cluster, or there is another next CA here.
Result<std::string> AddCaFrom(const std::filesystem::path& data, const std::string& exported);
Result<std::string> UseCa(const std::filesystem::path& data);
Result<std::string> UndoCa(const std::filesystem::path& data);
Result<std::string> DropCas(const std::filesystem::path& data);

// The next CA with its private key, for the other servers of the cluster. kConflict: there is none.
Result<std::string> ExportNextCa(const std::filesystem::path& data);

// Ids of the CA that UseCa, or UndoCa, would let sign. kConflict: it is not this step's turn.
Result<std::string> NextCaId(const std::filesystem::path& data);
Result<std::string> FormerCaId(const std::filesystem::path& data);

}  // namespace muster::server
