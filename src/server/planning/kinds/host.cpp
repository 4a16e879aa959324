#include "server/planning/kind_rules.hpp"

namespace muster::server {
namespace {

void KeepLabels(const documents::Document& document, const AppliedFile& /*file*/, Document& kept) {
  kept.labels = std::get<documents::HostDocument>(document.body).labels;
}

}  // namespace

KindRules HostRules() { return {.kind = documents::Kind::kHost, .keep = KeepLabels}; }

}  // namespace muster::server
