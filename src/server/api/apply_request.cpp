#include "server/api/apply_request.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <boost/json.hpp>

#include "base/text.hpp"
#include "documents/budget.hpp"
#include "server/api/fields.hpp"
#include "server/api/file_request.hpp"
#include "server/planning/job_book.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostFiles = 10'000;

// Text as it is, anything else as {"base64": …}.
Result<std::string> ReadBytes(const json::value& value, const std::string& where) {
  if (value.is_string()) return std::string(value.as_string());
  const json::value* coded = value.is_object() ? value.as_object().if_contains("base64") : nullptr;
  if (coded != nullptr && coded->is_string())
    if (auto bytes = FromBase64(std::string(coded->as_string()))) return std::move(*bytes);
  return Fail(ErrorCode::kInvalid, "{}: expected a string, or an object with 'base64'", where);
}

Result<std::vector<FileEntry>> ReadEntries(const json::value& value, const std::string& where) {
  if (!value.is_array() || value.as_array().empty() || !value.as_array().front().is_object())
    return Fail(ErrorCode::kInvalid, "{}: expected a list of files", where);
  const json::object& first = value.as_array().front().as_object();
  const bool tree = first.contains("folder") && first.at("folder") == json::value(true);
  auto push = ReadPush({{"files", value}, {"to", "/-"}, {"tree", tree}});
  if (!push) return Fail(ErrorCode::kInvalid, "{}: {}", where, push.error().message);
  return std::move(push->files);
}

Result<AppliedFile> ReadFile(const json::object& object, const std::string& where) {
  AppliedFile file;
  for (const auto& item : object) {
    const std::string name(item.key());
    const std::string field = where + "." + name;
    const json::value& value = item.value();
    if (name == "file" || name == "text") {
      if (!value.is_string()) return Fail(ErrorCode::kInvalid, "{}: expected a string", field);
      (name == "file" ? file.file : file.text) = value.as_string();
    } else if (name == "attachments" || name == "pushes") {
      if (!value.is_object()) return Fail(ErrorCode::kInvalid, "{}: expected an object", field);
      for (const auto& [path, content] : value.as_object()) {
        const std::string inner = fmt::format("{}['{}']", field, std::string_view(path));
        if (name == "attachments") {
          auto bytes = ReadBytes(content, inner);
          if (!bytes) return Fail(bytes.error());
          file.attachments[path] = std::move(*bytes);
        } else {
          auto entries = ReadEntries(content, inner);
          if (!entries) return Fail(entries.error());
          file.pushes[path] = std::move(*entries);
        }
      }
    } else {
      return Fail(ErrorCode::kInvalid,
                  "unknown field '{}'; expected file, text, attachments, pushes", field);
    }
  }
  if (file.file.empty()) return Fail(ErrorCode::kInvalid, "{}.file: say what it is called", where);
  return file;
}

const AppliedFile& FileNamed(const ApplyRequest& request, const std::string& name) {
  return request.files[request.places.at(name)];
}

void Complain(documents::Reading& reading, const documents::Document& document,
              documents::Position position, std::string sentence) {
  reading.problems.push_back({document.file, position, std::move(sentence)});
}

using Pushed = std::set<std::pair<std::string, std::string>>;  // file of the document, path

// A folder that several stages push is looked up once.
void CheckJob(documents::Reading& reading, const documents::Document& document,
              const documents::JobDocument& job, ArtifactStore* artifacts, Pushed& known) {
  for (const auto& file : job.files) {
    const Command* command = CommandOf(job.spec.stages[file.stage]);
    if (command == nullptr) continue;
    if (command->script.size() + command->stdin_data.size() > kMaxCommandBytes)
      Complain(reading, document, file.position,
               fmt::format("'{}' has more than {}; push it as a file instead", file.path,
                           FormatSize(kMaxCommandBytes)));
    if (artifacts == nullptr || !command->push || command->push->files.empty()) continue;
    if (!known.emplace(document.file, file.path).second) continue;
    if (const auto there = CheckArtifacts(*command->push, *artifacts); !there)
      Complain(reading, document, file.position, there.error().message);
  }
}

}  // namespace

Result<ApplyRequest> ReadApplyRequest(const json::object& body) {
  ApplyRequest request;
  json::object rest = body;
  const json::value* list = body.if_contains("documents");
  if (list == nullptr || !list->is_array() || list->as_array().empty() ||
      list->as_array().size() > kMostFiles)
    return Fail(ErrorCode::kInvalid, "documents: expected a list of 1 to {} files", kMostFiles);
  for (std::size_t i = 0; i < list->as_array().size(); ++i) {
    const json::value& item = list->as_array()[i];
    const std::string where = fmt::format("documents[{}]", i);
    if (!item.is_object()) return Fail(ErrorCode::kInvalid, "{}: expected an object", where);
    auto file = ReadFile(item.as_object(), where);
    if (!file) return Fail(file.error());
    if (!request.places.emplace(file->file, request.files.size()).second)
      return Fail(ErrorCode::kInvalid, "{}: '{}' is there twice", where, file->file);
    request.files.push_back(std::move(*file));
  }
  rest.erase("documents");
  Fields fields(std::move(rest));
  fields.Bool("dry_run", request.dry_run)
      .Bool("prune", request.prune)
      .Reason("reason", request.reason);
  if (auto done = fields.Rest(); !done) return Fail(done.error());
  return request;
}

documents::Reading ReadFiles(const ApplyRequest& request, ArtifactStore& artifacts) {
  std::vector<documents::Source> sources;
  for (const auto& file : request.files) sources.push_back({file.file, file.text});
  auto reading = documents::ReadDocuments(
      sources, [&](const std::string& file, const std::string& path) -> Result<std::string> {
        const auto& attachments = FileNamed(request, file).attachments;
        const auto found = attachments.find(path);
        if (found == attachments.end())
          return Fail(ErrorCode::kNotFound, "'{}' did not come with the document", path);
        return found->second;
      });
  documents::ReadBudget budget;
  Pushed known;
  for (auto& document : reading.documents) {
    auto* job = std::get_if<documents::JobDocument>(&document.body);
    if (job == nullptr) continue;
    budget.BeginDocument();
    std::vector<documents::FileReference> missing;
    const auto placed =
        PlacePushes(*job, FileNamed(request, document.file).pushes, budget, missing);
    if (!placed) {
      Complain(reading, document, missing.back().position,
               fmt::format("'{}': {}", missing.back().path, placed.error().message));
      missing.pop_back();
    }
    for (const auto& reference : missing)
      Complain(reading, document, reference.position,
               fmt::format("'{}' did not come with the document", reference.path));
    // A dry run sends no files.
    CheckJob(reading, document, *job, request.dry_run ? nullptr : &artifacts, known);
  }
  return reading;
}

Document KeptOf(const documents::Document& document, const ApplyRequest& request) {
  Document kept{.kind = std::string(documents::Name(documents::KindOf(document))),
                .name = documents::NameOf(document),
                .hash = documents::ContentHash(document),
                .text = document.text};
  if (const auto* host = std::get_if<documents::HostDocument>(&document.body))
    kept.labels = host->labels;
  const auto* job = std::get_if<documents::JobDocument>(&document.body);
  if (job == nullptr) return kept;
  const AppliedFile& file = FileNamed(request, document.file);
  for (const auto& reference : job->files) {
    if (const auto script = file.attachments.find(reference.path);
        script != file.attachments.end() && reference.use == documents::FileReference::Use::kScript)
      kept.attachments.insert(*script);
    if (const auto pushed = file.pushes.find(reference.path);
        pushed != file.pushes.end() && reference.use == documents::FileReference::Use::kPush)
      kept.pushes.insert(*pushed);
  }
  return kept;
}

}  // namespace muster::server::api
