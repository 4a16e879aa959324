#include "server/planning/apply_warnings.hpp"

#include "base/text.hpp"
#include "domain/plan_bytes.hpp"
#include "server/planning/kind_rules.hpp"
#include "server/planning/secret_warnings.hpp"

namespace muster::server {

ApplyWarnings::ApplyWarnings(const Inventory& inventory, WallTime now,
                             const std::vector<documents::Document>& puts)
    : inventory_(inventory), now_(now), puts_(puts), book_(inventory.store) {
  for (const auto& document : puts)
    if (const auto* job = std::get_if<documents::JobDocument>(&document.body))
      book_.Set(job->name, *job);
  for (const auto& document : puts)
    if (const auto& rules = RulesOf(documents::KindOf(document)); rules.warn != nullptr)
      rules.warn(*this, document);
}

const std::set<std::string>& ApplyWarnings::DeclaredNames() {
  if (declared_) return *declared_;
  declared_.emplace();
  for (const auto& document : puts_)
    if (documents::KindOf(document) == documents::Kind::kHost)
      declared_->insert(documents::NameOf(document));
  if (const auto never = inventory_.declared.NeverJoined(inventory_.live))
    for (const auto& host : **never) declared_->insert(host.name);
  return *declared_;
}

void ApplyWarnings::OfSecrets(const documents::Document& document, const Start& start) {
  if (book_.BytesRead() > kMostPlanBytes) return;
  const auto title = fmt::format("{} {}", documents::Name(documents::KindOf(document)),
                                 documents::NameOf(document));
  const auto plan = book_.PlanOf(start.job, {}, JobBook::Missing::kAllowed);
  if (!plan) {
    if (plan.error().code == ErrorCode::kInvalid)
      secrets_.push_back(fmt::format("{}: {}", title, plan.error().message));
    return;
  }
  for (const auto& warning :
       SecretWarnings(inventory_.store, inventory_.live,
                      {.plan = *plan,
                       .targets = start.targets.empty() ? plan->targets : start.targets,
                       .exclude = start.exclude}))
    secrets_.push_back(fmt::format("{}: {}", title, warning));
}

void ApplyWarnings::Add(std::string sentence) {
  if (!sentence.empty()) others_.push_back(std::move(sentence));
}

std::vector<std::string> ApplyWarnings::Take() && {
  auto warnings = std::move(secrets_);
  if (book_.BytesRead() > kMostPlanBytes)
    warnings.push_back(
        fmt::format("the jobs that these start have more than {}; not all of them were looked at "
                    "for secrets that a host could choose to get",
                    FormatSize(kMostPlanBytes)));
  for (auto& sentence : others_) warnings.push_back(std::move(sentence));
  return warnings;
}

}  // namespace muster::server
