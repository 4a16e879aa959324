#pragma once

#include <vector>

#include "base/result.hpp"
#include "engine/answer.hpp"
#include "engine/auth/effects.hpp"
#include "engine/hosts/effects.hpp"
#include "engine/kinds.hpp"
#include "engine/runs/effects.hpp"
#include "engine/secrets/effects.hpp"
#include "engine/triggers/effects.hpp"
#include "ports/links.hpp"

namespace muster::engine {

struct Reply {
  RequestId request;
  Result<AnyAnswer> answer;
};

// What changed, for streams and live views. Sent after the commit that made it true.
using News = OneOf<NewsOfRuns, NewsOfHosts, NewsOfAuth, NewsOfSecrets>;

// What the engine has the server do. How it went comes back as a command.
using ServerWork = OneOf<WorkOfRuns, WorkOfTriggers>;

// What leaves the engine once the batch that was open when it was decided is durable.
struct Effects {
  std::vector<Reply> replies;
  std::vector<Links::Outgoing> frames;
  std::vector<LinkId> closes;
  std::vector<News> news;
  std::vector<ServerWork> work;

  bool Empty() const {
    return replies.empty() && frames.empty() && closes.empty() && news.empty() && work.empty();
  }
  void Append(Effects&& more);
};

}  // namespace muster::engine
