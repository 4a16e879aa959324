#include "server/api/document_descriptions.hpp"

#include <variant>

#include "base/text.hpp"
#include "documents/kinds/channel.hpp"
#include "server/planning/job_book.hpp"

namespace muster::server::api {
namespace {

constexpr std::size_t kMostKnown = 20'000;
constexpr std::size_t kMostDescription = 1000;

DocumentDescriptions::Description DescriptionOf(const Document& kept) {
  DocumentDescriptions::Description description;
  const auto read = ReadKept(kept);
  if (!read) return description;
  if (const auto* job = std::get_if<documents::JobDocument>(&read->body))
    description.text = job->description;
  if (const auto* document = std::get_if<documents::ChannelDocument>(&read->body)) {
    description.text = document->description;
    if (const auto channel = documents::ChannelOf(*document)) description.type = KindOf(*channel);
  }
  CutText(description.text, kMostDescription);
  return description;
}

}  // namespace

Result<DocumentDescriptions::Description> DocumentDescriptions::Of(const DocumentHead& head) {
  const std::pair key(head.kind, head.name);
  if (const auto known = known_.find(key); known != known_.end() && known->second.hash == head.hash)
    return known->second.description;
  const auto kept = store_.FindDocument(head.kind, head.name, head.version);
  if (!kept) return Fail(kept.error());
  if (known_.size() >= kMostKnown) known_.clear();
  auto& known = known_[key];
  known = {.hash = head.hash,
           .description = *kept ? DescriptionOf(**kept) : DocumentDescriptions::Description()};
  return known.description;
}

}  // namespace muster::server::api
