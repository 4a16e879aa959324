#include "engine/turn.hpp"

#include <iterator>

namespace muster::engine {

void Effects::Append(Effects&& more) {
  const auto move_all = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    from.clear();
  };
  move_all(replies, more.replies);
  move_all(frames, more.frames);
  move_all(closes, more.closes);
  move_all(news, more.news);
}

void Turn::Audit(const Caller& caller, std::string act, std::string object, std::string detail) {
  Put(AddAudit{AuditEntry{.number = state.next_audit++,
                          .at = now.wall,
                          .actor = caller.name,
                          .address = caller.address,
                          .act = std::move(act),
                          .object = std::move(object),
                          .detail = std::move(detail)}});
}

link::ServerFrame& Turn::FrameFor(LinkId link) {
  const auto [found, added] = frames_.try_emplace(link, effects.frames.size());
  if (added) effects.frames.push_back({link, {}});
  return effects.frames[found->second].frame;
}

}  // namespace muster::engine
