#include "engine/load.hpp"

#include "engine/auth/tokens.hpp"
#include "engine/documents/apply.hpp"
#include "engine/hosts/load.hpp"
#include "engine/limiter/limiter.hpp"
#include "engine/notices/notices.hpp"
#include "engine/runs/load.hpp"
#include "engine/triggers/in_memory.hpp"

namespace muster::engine {

State LoadState(Snapshot snapshot, Options options, Now now) {
  State state;
  state.options = options;
  state.cluster = snapshot.cluster;
  state.term = snapshot.fence.term;
  state.loaded_at = snapshot.fence.number;
  state.loaded = now.mono;
  state.id_space = snapshot.id_space;
  state.audit = std::move(snapshot.audit);
  state.keys.forgotten_at = snapshot.fence.number;
  state.keeping.restored = snapshot.restored;
  const LostBounds lost = BoundsOf(snapshot);  // before its runs are moved away

  LoadTokens(state, snapshot);
  LoadDocuments(state, snapshot);
  LoadHosts(state, snapshot, now);
  LoadRuns(state, snapshot, now);
  LoadLimiter(state, snapshot, lost);
  LoadTasks(state, snapshot);
  LoadNotices(state, snapshot, now);
  LoadTriggers(state, snapshot, now);
  return state;
}

}  // namespace muster::engine
