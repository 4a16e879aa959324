#pragma once

#include <functional>
#include <string>

namespace muster::server::api {

// Looks again whether the token of this name would be let in, and calls `then`. Whatever goes on
// for long asks before each of its pieces, so that a token that was revoked or has expired gets no
// more. "" is a caller who shows a certificate instead, and passes. On the loop's thread, `then`
// too, at once or later.
using LookAgain =
    std::function<void(const std::string& token, std::function<void(bool usable)> then)>;

}  // namespace muster::server::api
