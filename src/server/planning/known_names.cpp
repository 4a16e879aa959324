#include "server/planning/known_names.hpp"

#include "base/similar.hpp"

namespace muster::server {

std::string DidYouMean(Store& store, std::string_view kind, std::string_view name) {
  constexpr std::size_t kNamesPage = 500;
  constexpr std::size_t kMostPagesOfNames = 10;
  NearestName nearest(name);
  std::string after;
  for (std::size_t i = 0; i < kMostPagesOfNames; ++i) {
    const auto page = store.ListDocumentHeads(kind, after, kNamesPage);
    if (!page) return "";
    for (const auto& head : *page) nearest.Offer(head.name);
    if (page->size() < kNamesPage) break;
    after = page->back().name;
  }
  return nearest.Hint();
}

std::string DidYouMeanSecret(Store& store, std::string_view name) {
  NearestName nearest(name);
  if (const auto secrets = store.ListSecrets())
    for (const auto& secret : *secrets) nearest.Offer(secret.name);
  return nearest.Hint();
}

}  // namespace muster::server
