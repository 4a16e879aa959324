#include "cli/imports/import_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "base/text.hpp"

namespace muster::cli {
namespace {

Result<std::string> ReadBounded(std::istream& from, const std::string& path, std::size_t most) {
  std::string text;
  char part[64 << 10];
  while (from.read(part, sizeof part) || from.gcount() > 0) {
    text.append(part, static_cast<std::size_t>(from.gcount()));
    if (text.size() > most)
      return Fail(ErrorCode::kInvalid, "'{}' has more than {}; cut it into parts", path,
                  FormatSize(most));
  }
  return text;
}

}  // namespace

Result<documents::Source> ReadImportFile(const std::string& path, std::size_t most) {
  Result<std::string> text = std::string();
  std::error_code problem;
  if (path == "-") {
    text = ReadBounded(std::cin, path, most);
  } else if (std::filesystem::is_directory(path, problem)) {
    return Fail(ErrorCode::kInvalid, "'{}' is a folder", path);
  } else {
    std::ifstream file(path, std::ios::binary);
    if (!file)
      return Fail(ErrorCode::kNotFound, "cannot read '{}': {}", path, std::strerror(errno));
    text = ReadBounded(file, path, most);
  }
  if (!text) return Fail(text.error());
  return documents::Source{path, std::move(*text)};
}

int FailFindings(const std::vector<documents::Problem>& problems) {
  for (const auto& problem : problems) WriteMessage(OwnLine(documents::Written(problem)));
  return 1;
}

void SayFindings(const Context& context, const std::vector<documents::Problem>& remarks) {
  for (const auto& remark : remarks) context.Say(documents::Written(remark));
}

}  // namespace muster::cli
