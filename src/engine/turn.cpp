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
  move_all(work, more.work);
}

void Turn::Audit(const Caller& caller, std::string act, std::string object, std::string detail,
                 std::vector<HostId> about) {
  AuditEntry entry;
  entry.act = std::move(act);
  entry.object = std::move(object);
  entry.detail = std::move(detail);
  Audit(caller, std::move(entry), std::move(about));
}

void Turn::Audit(const Caller& caller, AuditEntry entry, std::vector<HostId> about) {
  entry.number = state.audit.number + 1;
  entry.at = now.wall;
  entry.actor = caller.name;
  entry.address = caller.address;
  entry.client = caller.client;
  entry.previous = state.audit.hash;
  entry.hash = AuditHash(entry);
  state.audit = {entry.number, entry.hash};
  Put(AddAudit{std::move(entry), std::move(about)});
}

link::ServerFrame& Turn::FrameFor(LinkId link) {
  const auto [found, added] = frames_.try_emplace(link, effects.frames.size());
  if (added) effects.frames.push_back({link, {}});
  return effects.frames[found->second].frame;
}

}  // namespace muster::engine
