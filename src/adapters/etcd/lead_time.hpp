#pragma once

#include "base/instant.hpp"

namespace muster::etcd {

// Until when a lease surely lasts that was asked for at `asked` and answered with `ttl`. etcd
// counts from when it handled the request, which was later. A tenth is left over for clocks that do
// not run equally fast, and for stopping what the leader has under way.
constexpr MonoTime LeadTime(MonoTime asked, Duration ttl) { return asked + (ttl - ttl / 10); }

}  // namespace muster::etcd
