// Writes what is made from the tables of kinds and keys: api/job.schema.json, the kinds that
// api/openapi.yaml lists, and in docs/jobs/reference.md what stands between <!-- kinds --> or
// <!-- keys: SHAPE --> and <!-- end -->.
//   documents_tables ROOT

#include <cstdio>
#include <fstream>
#include <iterator>

#include "documents/documents.hpp"
#include "documents/schema.hpp"

namespace {

std::string Read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void Write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// What stands between `mark` and `last` becomes `table`.
void Replace(std::string& text, const std::string& mark, const std::string& last,
             const std::string& table) {
  const auto begin = text.find(mark);
  if (begin == std::string::npos) return;
  const auto at = begin + mark.size();
  text.replace(at, text.find(last, at) - at, table);
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::fputs("usage: documents_tables ROOT\n", stderr);
    return 2;
  }
  const std::string root = words[1];
  Write(root + "/api/job.schema.json", muster::documents::JsonSchema());
  const std::string contract = root + "/api/openapi.yaml";
  std::string openapi = Read(contract);
  // The line of DocumentKind.
  const auto line = muster::documents::KindEnum();
  Replace(openapi, line.substr(0, line.find('[')), "\n",
          line.substr(line.find('['), line.size() - line.find('[') - 1));
  Write(contract, openapi);
  const std::string path = root + "/docs/jobs/reference.md";
  std::string reference = Read(path);
  Replace(reference, "<!-- kinds -->\n", "<!-- end -->", muster::documents::KindTable());
  for (const auto* shape : muster::documents::AllShapes())
    Replace(reference, fmt::format("<!-- keys: {} -->\n", shape->name), "<!-- end -->",
            muster::documents::KeyTable(*shape));
  Write(path, reference);
  return 0;
}
