#include "support.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

namespace muster::documents {

std::string FileText(const std::string& path) {
  std::ifstream stream(std::string(MUSTER_SOURCE) + "/" + path, std::ios::binary);
  EXPECT_TRUE(stream) << path;
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(MUSTER_SOURCE) + "/" + folder))
    if (entry.path().extension() == ".yaml")
      files.push_back(folder + "/" + entry.path().filename().string());
  std::ranges::sort(files);
  return files;
}

Result<std::string> ReadBeside(const std::string& document, const std::string& path) {
  const auto file =
      std::filesystem::path(MUSTER_SOURCE) / std::filesystem::path(document).parent_path() / path;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return Fail(ErrorCode::kNotFound, "there is no such file");
  return std::string{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

Reading ReadTreeFile(const std::string& path) {
  const Source source{path, FileText(path)};
  return ReadDocuments({&source, 1}, ReadBeside);
}

std::string ProblemsOf(std::string_view text) {
  const Source source{"t.yaml", std::string(text)};
  std::string lines;
  for (const auto& problem : ReadDocuments({&source, 1}, ReadBeside).problems)
    lines += Written(problem) + "\n";
  return lines;
}

JobDocument JobOf(std::string_view text) {
  const Source source{"t.yaml", std::string(text)};
  auto documents = ReadAll({&source, 1}, ReadBeside);
  EXPECT_TRUE(documents) << documents.error().message;
  if (!documents || documents->empty()) return {};
  return std::get<JobDocument>(documents->front().body);
}

std::string JobWith(std::string_view body) {
  return "apiVersion: muster/v1\nkind: job\nname: j\n" + std::string(body);
}

}  // namespace muster::documents
