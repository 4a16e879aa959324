#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "documents/documents.hpp"

namespace {

using namespace muster;
using namespace muster::documents;

Result<std::string> AnyScript(const std::string&, const std::string& path) {
  if (path.size() % 7 == 0) return Fail(ErrorCode::kNotFound, "no {}", path);
  return "echo " + path;
}

void CheckJob(const JobDocument& job) {
  const auto& stages = job.spec.stages;
  MUSTER_CHECK(!stages.empty() && !job.name.empty());
  const auto exists = [&](std::uint32_t index) { return index < stages.size(); };
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const auto& stage = stages[i];
    MUSTER_CHECK(!stage.name.empty());
    // One level, and a holder stands before what it holds.
    if (stage.parent) MUSTER_CHECK(*stage.parent < i && !stages[*stage.parent].parent);
    if (stage.needs) MUSTER_CHECK(std::ranges::all_of(*stage.needs, exists));
    for (const auto& [status, next] : stage.next)
      MUSTER_CHECK(next == StageSpec::kEnd || exists(next));
    if (const Command* command = CommandOf(stage); command != nullptr && command->IsProcess())
      MUSTER_CHECK(!command->script.empty() && command->script.find("${{") == std::string::npos);
  }
  for (const auto& file : job.files) MUSTER_CHECK(exists(file.stage));
  if (const auto params = ResolveParams(job, {}))
    for (const auto& param : *params) MUSTER_CHECK(!param.name.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Source source{"f.yaml", std::string(reinterpret_cast<const char*>(data), size)};
  const auto reading = ReadDocuments({&source, 1}, AnyScript);
  MUSTER_CHECK(!reading.documents.empty() || !reading.problems.empty());
  const auto lines = 2 + std::ranges::count(source.text, '\n');
  for (const auto& problem : reading.problems) {
    MUSTER_CHECK(problem.position.line >= 1 && problem.position.line <= lines);
    MUSTER_CHECK(problem.position.column >= 1 && !problem.sentence.empty());
  }
  for (const auto& document : reading.documents) {
    if (const auto* job = std::get_if<JobDocument>(&document.body)) CheckJob(*job);
    // What is kept reads back as the same.
    const Source kept{"f.yaml", Format(document)};
    const auto again = ReadAll({&kept, 1}, AnyScript);
    MUSTER_CHECK(again && again->size() == 1);
    MUSTER_CHECK(ContentHash(again->front()) == ContentHash(document));
  }
  return 0;
}
