#pragma once

#include <filesystem>
#include <string>

#include "base/result.hpp"
#include "base/secret_text.hpp"

namespace muster::server {

// What makes a server one of its cluster, and is the same on all of them: CA certificates and key,
// the keys that secrets are sealed with, the key that join tokens are derived from, the admin
// token. They never travel but sealed for the newcomer (crypto/box.hpp).

// From the data folder, as one text. kConflict: more than one CA is trusted. While the CA is
// changed, the holder of the old one's key could pass for a server and so for an admin; the new key
// must not leave this way.
Result<SecretText> PackClusterKeys(const std::filesystem::path& data);

// Writes them into `folder`, which is one for a set of keys (key_set.hpp). kInvalid: the text is
// not of PackClusterKeys.
Result<> UnpackClusterKeys(const std::filesystem::path& folder, const SecretText& packed);

// musterd join: takes a place in a cluster.
int JoinMain(int argc, char** argv);

}  // namespace muster::server
