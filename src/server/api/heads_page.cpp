#include "server/api/heads_page.hpp"

#include <utility>

namespace muster::server::api {
namespace {

constexpr std::size_t kHeadsAtOnce = 500;

}  // namespace

Result<HeadsPage> FindHeads(Store& store, const Call& call, const std::string& kind,
                            std::size_t limit,
                            const std::function<bool(const std::string& name)>& wanted) {
  const std::size_t at_once = wanted ? kHeadsAtOnce : limit;
  HeadsPage page;
  for (std::string after = call.Query("cursor");;) {
    auto heads = store.ListDocumentHeads(kind, after, at_once);
    if (!heads) return Fail(heads.error());
    for (auto& head : *heads) {
      after = head.name;
      if (wanted && !wanted(head.name)) continue;
      page.heads.push_back(std::move(head));
      if (page.heads.size() < limit) continue;
      page.next = after;
      return page;
    }
    if (heads->size() < at_once) return page;
    if (const auto on = call.GoesOn(); !on) return Fail(on.error());
  }
}

}  // namespace muster::server::api
