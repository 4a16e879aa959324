#include "server/planning/applied_files.hpp"

#include <set>
#include <utility>

#include "base/text.hpp"
#include "documents/budget.hpp"
#include "server/planning/kind_rules.hpp"
#include "server/planning/pushed_files.hpp"

namespace muster::server {
namespace {

const AppliedFile& FileNamed(const ApplyRequest& request, const std::string& name) {
  return request.files[request.places.at(name)];
}

void Complain(documents::Reading& reading, const documents::Document& document,
              documents::Position position, std::string sentence) {
  reading.problems.push_back({document.file, position, std::move(sentence)});
}

using Pushed = std::set<std::pair<std::string, std::string>>;  // file of the document, path

// A folder that several stages push is looked up once.
void CheckJob(documents::Reading& reading, const documents::Document& document,
              const documents::JobDocument& job, ArtifactStore* artifacts, Pushed& known) {
  for (const auto& file : job.files) {
    const Command* command = CommandOf(job.spec.stages[file.stage]);
    if (command == nullptr) continue;
    if (command->script.size() + command->stdin_data.size() > kMaxCommandBytes)
      Complain(reading, document, file.position,
               fmt::format("'{}' has more than {}; push it as a file instead", file.path,
                           FormatSize(kMaxCommandBytes)));
    if (artifacts == nullptr || !command->push || command->push->files.empty()) continue;
    if (!known.emplace(document.file, file.path).second) continue;
    if (const auto there = CheckArtifacts(*command->push, *artifacts); !there)
      Complain(reading, document, file.position, there.error().message);
  }
}

}  // namespace

documents::Reading ReadFiles(const ApplyRequest& request, ArtifactStore& artifacts) {
  std::vector<documents::Source> sources;
  for (const auto& file : request.files) sources.push_back({file.file, file.text});
  auto reading = documents::ReadDocuments(
      sources, [&](const std::string& file, const std::string& path) -> Result<std::string> {
        const auto& attachments = FileNamed(request, file).attachments;
        const auto found = attachments.find(path);
        if (found == attachments.end())
          return Fail(ErrorCode::kNotFound, "'{}' did not come with the document", path);
        return found->second;
      });
  documents::ReadBudget budget;
  Pushed known;
  for (auto& document : reading.documents) {
    auto* job = std::get_if<documents::JobDocument>(&document.body);
    if (job == nullptr) continue;
    budget.BeginDocument();
    std::vector<documents::FileReference> missing;
    const auto placed =
        PlacePushes(*job, FileNamed(request, document.file).pushes, budget, missing);
    if (!placed) {
      Complain(reading, document, missing.back().position,
               fmt::format("'{}': {}", missing.back().path, placed.error().message));
      missing.pop_back();
    }
    for (const auto& reference : missing)
      Complain(reading, document, reference.position,
               fmt::format("'{}' did not come with the document", reference.path));
    // A dry run sends no files.
    CheckJob(reading, document, *job, request.dry_run ? nullptr : &artifacts, known);
  }
  return reading;
}

Document KeptOf(const documents::Document& document, const ApplyRequest& request) {
  Document kept{.kind = std::string(documents::Name(documents::KindOf(document))),
                .name = documents::NameOf(document),
                .hash = documents::ContentHash(document),
                .text = document.text};
  if (const auto& rules = RulesOf(documents::KindOf(document)); rules.keep != nullptr)
    rules.keep(document, FileNamed(request, document.file), kept);
  return kept;
}

}  // namespace muster::server
