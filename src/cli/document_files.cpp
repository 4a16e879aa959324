#include "cli/document_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

Result<std::string> ReadText(const fs::path& path) {
  std::error_code problem;
  if (fs::is_directory(path, problem))
    return Fail(ErrorCode::kInvalid, "'{}' is a folder", path.string());
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Fail(ErrorCode::kNotFound, "cannot read '{}': {}", path.string(), std::strerror(errno));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

bool IsYaml(const fs::path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml";
}

Result<std::vector<std::string>> FilesOf(const std::string& path) {
  std::error_code problem;
  if (path == "-" || !fs::is_directory(path, problem)) return std::vector{path};
  std::vector<std::string> files;
  for (auto at = fs::recursive_directory_iterator(path, problem);
       !problem && at != fs::recursive_directory_iterator(); at.increment(problem))
    if (at->is_regular_file(problem) && IsYaml(at->path())) files.push_back(at->path().string());
  if (problem) return Fail(ErrorCode::kNotFound, "cannot read '{}': {}", path, problem.message());
  if (files.empty()) return Fail(ErrorCode::kNotFound, "there is no *.yaml or *.yml in '{}'", path);
  std::ranges::sort(files);
  return files;
}

// Paths in a document are relative to it.
fs::path Beside(const std::string& document, const std::string& path) {
  return document == "-" ? fs::path(path) : fs::path(document).parent_path() / path;
}

Result<> AddFile(const std::string& path, DocumentFiles& all) {
  if (std::ranges::any_of(all.files, [&](const auto& file) { return file.source.file == path; }))
    return {};
  Result<std::string> text = std::string();
  if (path == "-")
    text = std::string(std::istreambuf_iterator<char>(std::cin), {});
  else
    text = ReadText(path);
  if (!text) return Fail(text.error());
  all.files.push_back({.source = {path, std::move(*text)}, .scripts = {}, .pushes = {}});
  return {};
}

}  // namespace

Result<DocumentFiles> ReadDocumentFiles(const std::vector<std::string>& paths) {
  DocumentFiles all;
  for (const auto& path : paths) {
    const auto files = FilesOf(path);
    if (!files) return Fail(files.error());
    for (const auto& file : *files)
      if (auto added = AddFile(file, all); !added) return Fail(added.error());
  }
  const auto named = [&](const std::string& name) -> DocumentFiles::File& {
    return *std::ranges::find_if(all.files,
                                 [&](const auto& file) { return file.source.file == name; });
  };
  std::vector<documents::Source> sources;
  for (const auto& file : all.files) sources.push_back(file.source);
  all.reading = documents::ReadDocuments(
      sources, [&](const std::string& document, const std::string& path) -> Result<std::string> {
        auto text = ReadText(Beside(document, path));
        if (text) named(document).scripts[path] = *text;
        return text;
      });
  for (const auto& document : all.reading.documents) {
    const auto* job = std::get_if<documents::JobDocument>(&document.body);
    if (job == nullptr) continue;
    for (const auto& reference : job->files)
      if (reference.use == documents::FileReference::Use::kPush)
        named(document.file).pushes[reference.path] =
            Beside(document.file, reference.path).string();
  }
  return all;
}

}  // namespace muster::cli
