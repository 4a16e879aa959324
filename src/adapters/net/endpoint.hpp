#pragma once

#include <string>
#include <string_view>

#include "adapters/net/client.hpp"
#include "adapters/net/tls.hpp"

// What both clients say about the server they talk to.
namespace muster::net {

std::string AuthorityOf(const Endpoint& endpoint);  // "host:8440", "[::1]:8440"
std::string UrlOf(const Endpoint& endpoint);

Error ConnectError(const Endpoint& endpoint, std::string_view why);  // kUnavailable

// A connection that would show the caller's key, or a credential, to anybody in between. kDenied.
Error PlainError(const Endpoint& endpoint);

// kDenied when we did not believe the server's certificate, kUnavailable otherwise.
Error HandshakeError(const Endpoint& endpoint, const Attempt& attempt, const SSL* ssl);

}  // namespace muster::net
