#include <spdlog/spdlog.h>

#include "server/gateway/gateway.hpp"

namespace muster::server {

void Gateway::SayGoodbye(Duration over, std::function<bool()> still) {
  if (links_.empty()) return;
  spdlog::info("sending every node elsewhere links={} over={}", links_.size(),
               FormatDuration(over));
  const auto count = static_cast<std::int64_t>(links_.size());
  std::int64_t number = 0;
  for (const auto& [id, link] : links_) {
    const Duration delay(over.count() * number++ / count);
    loop_.After(delay, [this, id, still] {
      if (still()) SayGoodbyeTo(id);
    });
  }
}

void Gateway::SayGoodbyeTo(LinkId link) {
  link::ServerFrame frame;
  std::uint64_t told = 0;
  frame.goodbye.emplace();
  frame.goodbye->servers = servers_.All(clock_.Read().mono, told);
  SendNow(link, frame);
  CloseNow(link, "");
}

}  // namespace muster::server
