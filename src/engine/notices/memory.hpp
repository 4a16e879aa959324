#pragma once

#include <map>
#include <utility>

#include "domain/notice.hpp"
#include "engine/kinds.hpp"

namespace muster::engine {

// A notice is to be sent, or sent again.
struct NoticeDue {
  RunId run;
  Visit visit;
};
using TimersOfNotices = Kinds<NoticeDue>;

struct NoticeMemory {
  struct Telling {
    OpenNotice notice;
    bool under_way = false;
  };
  std::map<std::pair<RunId, Visit>, Telling> open;  // that no channel took yet
};

}  // namespace muster::engine
