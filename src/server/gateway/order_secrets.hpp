#pragma once

#include <map>
#include <memory>
#include <vector>

#include "domain/secret.hpp"
#include "engine/command.hpp"
#include "ports/links.hpp"

namespace muster::server {

// Fills secrets into orders at the last moment before they leave the server. What the engine and
// the store have of a command names its secrets and holds none. For the frames of one moment: a
// value is asked for once and not kept any longer.
class OrderSecrets {
 public:
  explicit OrderSecrets(const FindSecret& find) : find_(find) {}

  // Orders whose secret cannot be had are taken out of the frame. They are on record as sent, so
  // somebody must say that they were not run: what comes back says it to the engine in the node's
  // place.
  std::vector<engine::NodeReports> Fill(Links::Outgoing& outgoing);

 private:
  using Filled = Result<std::shared_ptr<const Command>>;
  const Filled& FillOnce(const std::shared_ptr<const Command>& command);

  const FindSecret& find_;
  std::map<std::shared_ptr<const Command>, Filled> filled_;
};

}  // namespace muster::server
