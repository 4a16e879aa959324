#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "documents/documents.hpp"
#include "imports/rundeck.hpp"

namespace {

using namespace muster;

Result<std::string> NoScript(const std::string&, const std::string& path) {
  return Fail(ErrorCode::kNotFound, "no {}", path);
}

}  // namespace

// For every file: places are in it, and what comes out is a document, or one with its
// trigger.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const documents::Source source{"jobs.yaml",
                                 std::string(reinterpret_cast<const char*>(data), size)};
  const auto lines = 2 + std::ranges::count(source.text, '\n');
  const auto read = imports::ReadRundeck({&source, 1});
  MUSTER_CHECK(!read.jobs.empty() || !read.problems.empty());
  for (const auto& problem : read.problems)
    MUSTER_CHECK(problem.position.line >= 1 && problem.position.line <= lines);
  for (const auto& job : read.jobs) {
    for (const auto& note : job.notes) MUSTER_CHECK(note.at.line <= lines);
    MUSTER_CHECK(!imports::ReportOf(job).empty());
    const documents::Source made{"made.yaml", job.text};
    const auto documents = documents::ReadAll({&made, 1}, NoScript);
    MUSTER_CHECK(documents && (documents->size() == 1 || documents->size() == 2));
    MUSTER_CHECK(documents::NameOf(documents->front()) == job.name);
  }
  return 0;
}
