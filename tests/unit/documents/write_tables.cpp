// Writes what is made from the table of keys: api/job.schema.json, and the tables between
// <!-- keys: SHAPE --> and <!-- end --> in docs/jobs/reference.md.
//   documents_tables ROOT

#include <cstdio>
#include <fstream>
#include <iterator>

#include "documents/schema.hpp"

namespace {

std::string Read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void Write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::fputs("usage: documents_tables ROOT\n", stderr);
    return 2;
  }
  const std::string root = words[1];
  Write(root + "/api/job.schema.json", muster::documents::JsonSchema());
  const std::string path = root + "/docs/jobs/reference.md";
  std::string reference = Read(path);
  for (const auto* shape : muster::documents::AllShapes()) {
    const std::string mark = fmt::format("<!-- keys: {} -->\n", shape->name);
    const auto begin = reference.find(mark);
    if (begin == std::string::npos) continue;
    const auto table = begin + mark.size();
    const auto end = reference.find("<!-- end -->", table);
    reference.replace(table, end - table, muster::documents::KeyTable(*shape));
  }
  Write(path, reference);
  return 0;
}
