#include "domain/document.hpp"

#include <set>

namespace muster {

DocumentHead HeadOf(const Document& document) {
  std::set<std::string> files;
  for (const auto& [path, entries] : document.pushes)
    for (const auto& entry : entries)
      if (!entry.folder) files.insert(entry.sha256);
  return {.kind = document.kind,
          .name = document.name,
          .version = document.version,
          .hash = document.hash,
          .dropped = false,
          .labels = document.labels,
          .files = {files.begin(), files.end()},
          .by = document.by,
          .at = document.at};
}

}  // namespace muster
