#include "server/keeping/file_retention.hpp"

namespace muster::server {
namespace {

constexpr std::size_t kPage = 500;

// Whoever starts a run asks for its files first, which is use: a file that was named since it was
// listed is seen to be in use here.
Result<bool> StillUnused(ArtifactStore& files, const std::string& before_it,
                         const Artifact& listed) {
  const auto again = files.List(before_it, 1);
  if (!again) return Fail(again.error());
  return !again->empty() && again->front() == listed;
}

}  // namespace

Result<std::size_t> DropOldFiles(ArtifactStore& files, WallTime before, const IsNamed& is_named,
                                 const std::function<bool()>& go_on) {
  if (auto dropped = files.DropUploads(before); !dropped) return Fail(dropped.error());
  std::size_t gone = 0;
  std::string after;
  for (;;) {
    const auto page = files.List(after, kPage);
    if (!page) return Fail(page.error());
    for (const auto& file : *page) {
      if (!go_on()) return gone;
      const std::string before_it = std::exchange(after, file.sha256);
      if (file.used >= before) continue;
      const auto named = is_named(file.sha256);
      if (!named) return Fail(named.error());
      if (*named) continue;
      const auto unused = StillUnused(files, before_it, file);
      if (!unused) return Fail(unused.error());
      if (!*unused) continue;
      if (auto removed = files.Remove(file.sha256); !removed) return Fail(removed.error());
      ++gone;
    }
    if (page->size() < kPage) return gone;
  }
}

}  // namespace muster::server
