#pragma once

#include <array>
#include <string_view>

#include "domain/ids.hpp"
#include "link/messages.hpp"

namespace muster::server {

// What a node needs to send a message over its link. Whoever holds a link has shown a certificate
// of this cluster's CA; which host that makes it, the engine says with its Welcome.
enum class LinkPrivilege : std::uint8_t {
  kCertified,  // the certificate
  kWelcomed,   // the Welcome; and then only about tasks of its own host (see Intake)
};

// One kind of message, by its field in link.proto's NodeFrame.
struct LinkMessage {
  std::string_view name;
  LinkPrivilege needs;
  void (*drop)(link::NodeFrame& frame);
};

// Every kind there is; docs/people.md has the same table.
inline constexpr std::array kLinkMessages{
    LinkMessage{"hello", LinkPrivilege::kCertified, [](link::NodeFrame& f) { f.hello.reset(); }},
    LinkMessage{"beat", LinkPrivilege::kCertified, [](link::NodeFrame& f) { f.beat.reset(); }},
    LinkMessage{"chunks", LinkPrivilege::kWelcomed, [](link::NodeFrame& f) { f.chunks.clear(); }},
    LinkMessage{"reports", LinkPrivilege::kWelcomed, [](link::NodeFrame& f) { f.reports.clear(); }},
    LinkMessage{"renew", LinkPrivilege::kWelcomed, [](link::NodeFrame& f) { f.renew.clear(); }},
};

// Takes out of a frame what its sender may not say. `host` is whom the link was welcomed as, none
// before that. Nothing is answered: what was on its way when a new leader began is repeated by the
// node after its next Welcome.
inline void DropUnpermitted(link::NodeFrame& frame, HostId host) {
  for (const auto& message : kLinkMessages)
    if (message.needs == LinkPrivilege::kWelcomed && !host) message.drop(frame);
}

}  // namespace muster::server
