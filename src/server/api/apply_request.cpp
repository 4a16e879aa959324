#include "server/api/apply_request.hpp"

#include <utility>

#include <boost/json.hpp>

#include "base/text.hpp"
#include "server/api/fields.hpp"
#include "server/api/file_request.hpp"

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

}  // namespace muster::server::api
