#include "engine/keeping/restored.hpp"

#include "base/text.hpp"

namespace muster::engine {

void TellOfRestore(Turn& turn) {
  const auto& restored = turn.state.keeping.restored;
  // The first commit after a restore tells of it, so any commit since means that it was told.
  if (!restored || restored->number != turn.state.loaded_at) return;
  turn.Audit({.request = {}, .name = "musterd", .address = {}}, "store.restore", "store",
             fmt::format("from the backup of {}, restored {}; later entries are gone",
                         FormatTime(restored->taken), FormatTime(restored->at)));
}

}  // namespace muster::engine
