#pragma once

#include <string_view>

namespace muster {

// Whether a host can only be this machine: an address of 127.0.0.0/8, "::1" or "localhost". Every
// other name is not, also when it resolves to such an address: what answers for a name can change.
// Nor are other spellings of an address ("127.1", "::ffff:127.0.0.1"). IPv6 without brackets.
bool IsLoopback(std::string_view host) noexcept;

}  // namespace muster
