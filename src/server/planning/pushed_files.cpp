#include "server/planning/pushed_files.hpp"

#include "base/text.hpp"
#include "domain/plan_bytes.hpp"

namespace muster::server {

Result<> CheckArtifacts(const FilePush& push, ArtifactStore& store) {
  for (const auto& file : push.files) {
    if (file.folder) continue;
    const auto found = store.Find(file.sha256);
    if (!found) return Fail(found.error());
    if (*found && (*found)->size == file.size) continue;
    if (*found)
      return Fail(ErrorCode::kInvalid, "push.files: {} has {} bytes, not {}", ToHex(file.sha256),
                  (*found)->size, file.size);
    return Fail(ErrorCode::kInvalid,
                "push.files: {} is not in the artifact store; upload it first with PUT "
                "/api/v1/artifacts/{}",
                file.path.empty() ? push.name : file.path, ToHex(file.sha256));
  }
  return {};
}

Result<> PlacePushes(documents::JobDocument& job,
                     const std::map<std::string, std::vector<FileEntry>>& pushes,
                     documents::ReadBudget& budget,
                     std::vector<documents::FileReference>& missing) {
  for (const auto& file : job.files) {
    if (file.use != documents::FileReference::Use::kPush) continue;
    const auto found = pushes.find(file.path);
    if (found == pushes.end() || found->second.empty()) {
      missing.push_back(file);
      continue;
    }
    if (auto fits = budget.TakeBytes(BytesOf(found->second)); !fits) {
      missing.push_back(file);
      return fits;
    }
    documents::SetPushFiles(job, file, found->second, found->second.front().folder);
  }
  return {};
}

}  // namespace muster::server
