#pragma once

#include <string>
#include <vector>

#include "domain/ids.hpp"
#include "link/messages.hpp"

namespace muster {

// Carries the leader's messages to nodes. Safe from any thread. Sending is best effort: what must
// not be lost is said again when the node says Hello.
class Links {
 public:
  struct Outgoing {
    LinkId link;
    link::ServerFrame frame;
  };
  virtual ~Links() = default;

  // Messages to one link keep their order. A link that is gone swallows them.
  virtual void Send(std::vector<Outgoing> frames) = 0;

  // Ends a link after what was sent to it.
  virtual void Close(LinkId link) = 0;

  // A new leadership of this cluster began: every link that is open is asked to say Hello again.
  virtual void BeginAnew(Term term, const std::string& cluster) = 0;
};

}  // namespace muster
