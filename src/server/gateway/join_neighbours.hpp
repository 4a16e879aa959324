#pragma once

#include <vector>

#include "domain/log.hpp"

namespace muster::server {

// Joins chunks that say together what they say apart: of one task, stream and millisecond, each
// where the one before it ends. What comes byte by byte is then passed on as if it had come at
// once.
void JoinNeighbours(std::vector<LogChunk>& chunks);

}  // namespace muster::server
