#include "domain/approval_id.hpp"

#include "base/text.hpp"
#include "domain/audit_facts.hpp"
#include "domain/canonical.hpp"

namespace muster {
namespace {

constexpr std::size_t kHashBytes = 6;

void AddChanges(Canonical& bytes, const Run& run) {
  bytes.Number(run.overrides.size());
  for (const auto& set : run.overrides) {
    bytes.Number(set.stage ? *set.stage + std::uint64_t{1} : 0);
    bytes.Number(set.concurrency ? *set.concurrency + std::uint64_t{1} : 0);
    bytes.Text(set.max_failures ? FormatHostShare(*set.max_failures) : "");
    if (set.max_unreachable)
      bytes.Text("max_unreachable").Text(FormatHostShare(*set.max_unreachable));
  }
  bytes.Number(run.skips.size());
  for (const std::uint32_t stage : run.skips) bytes.Number(stage);
}

// What tells visits and batches apart: "7-1-".
std::string Beginning(const StageVisit& visit) {
  return fmt::format("{}-{}-", visit.visit.value, visit.batch + 1);
}

}  // namespace

std::string ApprovalIds::Of(const StageVisit& visit) {
  if (plans_.empty()) {
    plans_.push_back(PlanHash(run_.spec));
    for (const Run* parent : parents_) plans_.push_back(PlanHash(parent->spec));
  }
  Canonical bytes("muster.approval.1");
  bytes.Text(plans_.front()).Text(visit.message);
  AddChanges(bytes, run_);
  for (std::size_t i = 0; i < parents_.size(); ++i) {
    bytes.Number(parents_[i]->id.value).Text(plans_[i + 1]);
    AddChanges(bytes, *parents_[i]);
  }
  return Beginning(visit) + ToHex(bytes.Sha256().substr(0, kHashBytes));
}

bool ApprovalIds::Is(const StageVisit& visit, std::string_view id) {
  return id.starts_with(Beginning(visit)) && id == Of(visit);
}

std::string ApprovalId(const Run& run, const StageVisit& visit,
                       std::span<const Run* const> parents) {
  return ApprovalIds(run, parents).Of(visit);
}

}  // namespace muster
