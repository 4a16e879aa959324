#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "documents/documents.hpp"
#include "imports/inventory.hpp"

namespace {

using namespace muster;
using namespace muster::imports;

Result<std::string> NoScript(const std::string&, const std::string& path) {
  return Fail(ErrorCode::kNotFound, "no {}", path);
}

void CheckPlaces(const std::vector<documents::Problem>& problems, std::int64_t lines) {
  for (const auto& problem : problems) {
    MUSTER_CHECK(problem.position.line >= 1 && problem.position.line <= lines);
    MUSTER_CHECK(problem.position.column >= 1 && !problem.sentence.empty());
  }
}

// Hosts and groups that were read are documents, and read back as what they were.
void CheckDocuments(const Inventory& inventory) {
  std::string text;
  for (const auto& host : inventory.hosts) text += DocumentOf(host) + "---\n";
  for (const auto& group : inventory.groups) text += DocumentOf(group) + "---\n";
  const documents::Source source{"made.yaml", std::move(text)};
  const auto reading = documents::ReadDocuments({&source, 1}, NoScript);
  MUSTER_CHECK(inventory.hosts.empty() || reading.problems.empty());
  MUSTER_CHECK(reading.documents.size() == inventory.hosts.size() + inventory.groups.size());
  for (std::size_t i = 0; i < inventory.hosts.size(); ++i) {
    const auto& host = std::get<documents::HostDocument>(reading.documents[i].body);
    MUSTER_CHECK(host.name == inventory.hosts[i].name);
    MUSTER_CHECK(host.labels == inventory.hosts[i].labels);
  }
}

}  // namespace

// The first byte chooses the format.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const documents::Source source{"hosts",
                                 std::string(reinterpret_cast<const char*>(data + 1), size - 1)};
  const auto lines = 2 + std::ranges::count(source.text, '\n');
  constexpr InventoryFormat kFormats[] = {InventoryFormat::kLines, InventoryFormat::kCsv,
                                          InventoryFormat::kAnsible};
  const auto format = data[0] == '?' ? GuessFormat("", source.text) : kFormats[data[0] % 3];
  const auto inventory = ReadInventory(source, format);
  CheckPlaces(inventory.problems, lines);
  CheckPlaces(inventory.remarks, lines);
  MUSTER_CHECK(inventory.problems.empty() || inventory.hosts.empty());
  if (inventory.hosts.size() <= 2000) CheckDocuments(inventory);
  return 0;
}
