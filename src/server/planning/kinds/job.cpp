#include <algorithm>

#include "server/planning/applied_files.hpp"
#include "server/planning/apply_warnings.hpp"
#include "server/planning/kind_rules.hpp"
#include "server/planning/kinds/start_check.hpp"

namespace muster::server {
namespace {

Result<> CheckStarts(AppliedSet& set, const documents::Document& document) {
  const auto& job = std::get<documents::JobDocument>(document.body);
  for (const JobAction* action : JobsIn(job))
    if (auto checked = CheckStart(set, document, action->job, action->params); !checked)
      return checked;
  return {};
}

void WarnOfJob(ApplyWarnings& warnings, const documents::Document& document) {
  const auto& job = std::get<documents::JobDocument>(document.body);
  warnings.OfSecrets(document, {.job = job.name, .targets = job.targets, .exclude = ""});
}

void KeepFiles(const documents::Document& document, const AppliedFile& file, Document& kept) {
  using Use = documents::FileReference::Use;
  for (const auto& reference : std::get<documents::JobDocument>(document.body).files) {
    if (const auto script = file.attachments.find(reference.path);
        script != file.attachments.end() && reference.use == Use::kScript)
      kept.attachments.insert(*script);
    if (const auto pushed = file.pushes.find(reference.path);
        pushed != file.pushes.end() && reference.use == Use::kPush)
      kept.pushes.insert(*pushed);
  }
}

}  // namespace

KindRules JobRules() {
  return {
      .kind = documents::Kind::kJob, .check = CheckStarts, .warn = WarnOfJob, .keep = KeepFiles};
}

Result<> CheckStart(AppliedSet& set, const documents::Document& document, const std::string& job,
                    const std::map<std::string, std::string>& given) {
  const auto found = set.Jobs().Find(job);
  if (!found) return Fail(found.error());
  if (*found == nullptr) return {};
  const auto& params = (*found)->document.params;
  for (const auto& [name, value] : given)
    if (std::ranges::find(params, name, &ParamSpec::name) == params.end())
      set.Complain(document, "params", name, "job '{}' has no parameter '{}'", job, name);
  for (const auto& param : params)
    if (param.required && !given.contains(param.name))
      set.Complain(document, "job", job, "job '{}' needs parameter '{}'; give it in 'params'", job,
                   param.name);
  return {};
}

}  // namespace muster::server
