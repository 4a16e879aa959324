#pragma once

#include <openssl/bio.h>

namespace muster::net {

// OpenSSL's way to a non-blocking socket that stays ours. Unlike OpenSSL's own it never raises
// SIGPIPE, so programs need not ignore that signal to be safe from a peer that closed.
BIO* NewSocketBio(int fd);

}  // namespace muster::net
