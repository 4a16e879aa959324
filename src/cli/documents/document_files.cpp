#include "cli/documents/document_files.hpp"

#include <algorithm>
#include <filesystem>

#include "cli/imports/import_file.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

// A request may have 4 MB.
constexpr std::size_t kMostDocumentFile = 4 << 20;

bool IsYaml(const fs::path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml";
}

std::string Joined(const std::string& folder, const std::string& path) {
  return folder.empty() ? path : folder + "/" + path;
}

// What documents may read, and where in it a folder that was given stands.
struct Bound {
  FileRoot root;
  std::string folder;
};

Result<Bound> BoundAt(const std::string& folder, const FileRules& rules) {
  auto within = FileRoot::Within(folder, rules);
  if (!within) return Fail(within.error());
  return Bound{std::move(*within), ""};
}

// `given` is the folder.
Result<Bound> DocumentBound(const std::string& given, const DocumentAccess& access) {
  const auto& root = access.root;
  auto bound = BoundAt(root.empty() ? given : root, access.rules);
  if (!bound || root.empty()) return bound;
  std::error_code problem;
  const auto inner = fs::canonical(given, problem);
  if (problem) return Fail(ErrorCode::kNotFound, "cannot open '{}': {}", given, problem.message());
  const auto relative = inner.lexically_relative(fs::canonical(root, problem)).generic_string();
  if (relative.empty() || relative == ".." || relative.starts_with("../"))
    return Fail(ErrorCode::kInvalid, "'{}' is not inside --root '{}'", given, root);
  bound->folder = relative == "." ? "" : relative;
  return bound;
}

// The YAML files below a folder of the root. Links to folders are not followed.
Result<> FindYaml(const FileRoot& root, const std::string& folder,
                  std::vector<std::string>& found) {
  const auto names = root.List(folder.empty() ? "." : folder);
  if (!names) return Fail(names.error());
  for (const auto& name : *names) {
    if (name.starts_with('.') && !root.ReadsDotFiles()) continue;
    const auto path = Joined(folder, name);
    const auto status = root.Look(path, false);
    if (!status) return Fail(status.error());
    if (S_ISDIR(status->st_mode)) {
      if (auto inside = FindYaml(root, path, found); !inside) return inside;
    } else if (IsYaml(name) && (S_ISREG(status->st_mode) || S_ISLNK(status->st_mode))) {
      found.push_back(path);
    }
  }
  return {};
}

class FileReader {
 public:
  explicit FileReader(DocumentAccess access) : access_(std::move(access)) {}

  Result<> Add(const std::string& path) {
    std::error_code problem;
    const bool folder = path != "-" && fs::is_directory(path, problem);
    return folder ? AddFolder(path) : AddFile(path);
  }
  DocumentFiles Take() { return std::move(all_); }

 private:
  bool Has(const std::string& path) const {
    return std::ranges::any_of(all_.files,
                               [&](const auto& file) { return file.source.file == path; });
  }

  // What a person names may be of any kind, a pipe of the shell for example.
  Result<> AddFile(const std::string& path) {
    if (Has(path)) return {};
    auto source = ReadImportFile(path, kMostDocumentFile);
    if (!source) return Fail(source.error());
    auto bound = path == "-" ? BoundOfStdin() : BoundOfFile(path);
    if (!bound) return Fail(bound.error());
    Put(std::move(*source), bound->root, bound->folder);
    return {};
  }

  Result<Bound> BoundOfStdin() const {
    if (access_.root.empty()) return Bound{FileRoot::Nowhere(), ""};
    return BoundAt(access_.root, access_.rules);
  }

  Result<Bound> BoundOfFile(const std::string& path) const {
    const auto parent = fs::path(path).parent_path();
    return DocumentBound(parent.empty() ? "." : parent.string(), access_);
  }

  Result<> AddFolder(const std::string& path) {
    const auto bound = DocumentBound(path, access_);
    if (!bound) return Fail(bound.error());
    std::vector<std::string> found;
    if (auto ok = FindYaml(bound->root, bound->folder, found); !ok) return ok;
    if (found.empty())
      return Fail(ErrorCode::kNotFound, "there is no *.yaml or *.yml in '{}'", path);
    std::ranges::sort(found);
    for (const auto& inner : found) {
      const auto begin = bound->folder.empty() ? 0 : bound->folder.size() + 1;
      const auto name = (fs::path(path) / inner.substr(begin)).string();
      if (Has(name)) continue;
      auto text = bound->root.Read(inner, kMostDocumentFile);
      if (!text) return Fail(text.error());
      Put({name, std::move(*text)}, bound->root, fs::path(inner).parent_path().string());
    }
    return {};
  }

  void Put(documents::Source source, const FileRoot& root, std::string folder) {
    all_.files.push_back({.source = std::move(source),
                          .root = root,
                          .folder = std::move(folder),
                          .scripts = {},
                          .pushes = {}});
  }

  const DocumentAccess access_;
  DocumentFiles all_;
};

DocumentFiles::File& FileNamed(DocumentFiles& all, const std::string& name) {
  return *std::ranges::find_if(all.files,
                               [&](const auto& file) { return file.source.file == name; });
}

// Looks up what a job pushes; nothing is hashed yet.
void PlanPush(DocumentFiles& all, const documents::Document& document,
              const documents::FileReference& reference) {
  auto& file = FileNamed(all, document.file);
  auto plan = PlanCopy({Joined(file.folder, reference.path)}, "/-", all.left_out, file.root);
  if (plan)
    file.pushes.insert_or_assign(reference.path, std::move(*plan));
  else
    all.reading.problems.push_back({document.file, reference.position, plan.error().message});
}

}  // namespace

Result<DocumentFiles> ReadDocumentFiles(const std::vector<std::string>& paths,
                                        const DocumentAccess& access) {
  FileReader reader(access);
  for (const auto& path : paths)
    if (auto added = reader.Add(path); !added) return Fail(added.error());
  auto all = reader.Take();
  std::vector<documents::Source> sources;
  for (const auto& file : all.files) sources.push_back(file.source);
  all.reading = documents::ReadDocuments(
      sources, [&](const std::string& document, const std::string& path) -> Result<std::string> {
        auto& file = FileNamed(all, document);
        auto text = file.root.Read(Joined(file.folder, path), kMostDocumentFile);
        if (text) file.scripts[path] = *text;
        return text;
      });
  for (const auto& document : all.reading.documents) {
    const auto* job = std::get_if<documents::JobDocument>(&document.body);
    if (job == nullptr) continue;
    for (const auto& reference : job->files)
      if (reference.use == documents::FileReference::Use::kPush) PlanPush(all, document, reference);
  }
  return all;
}

}  // namespace muster::cli
