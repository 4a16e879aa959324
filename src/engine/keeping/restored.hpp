#pragma once

#include "engine/turn.hpp"

namespace muster::engine {

// Says in the audit trail that the store came from a backup, once for each restore: entries after
// the backup are gone, and their numbers are given again. Belongs into the first batch after the
// load.
void TellOfRestore(Turn& turn);

}  // namespace muster::engine
