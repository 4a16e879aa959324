#include "server/api/job_descriptions.hpp"

#include <variant>

#include "base/text.hpp"
#include "server/api/job_book.hpp"

namespace muster::server::api {
namespace {

constexpr std::size_t kMostKnown = 20'000;
constexpr std::size_t kMostDescription = 1000;

std::string DescriptionOf(const Document& kept) {
  const auto read = ReadKept(kept);
  const auto* job = read ? std::get_if<documents::JobDocument>(&read->body) : nullptr;
  if (job == nullptr) return "";
  std::string text = job->description;
  CutText(text, kMostDescription);
  return text;
}

}  // namespace

Result<std::string> JobDescriptions::Of(const DocumentHead& head) {
  if (const auto known = by_job_.find(head.name);
      known != by_job_.end() && known->second.hash == head.hash)
    return known->second.description;
  const auto kept = store_.FindDocument(head.kind, head.name, head.version);
  if (!kept) return Fail(kept.error());
  if (by_job_.size() >= kMostKnown) by_job_.clear();
  auto& known = by_job_[head.name];
  known = {.hash = head.hash, .description = *kept ? DescriptionOf(**kept) : ""};
  return known.description;
}

}  // namespace muster::server::api
