#include "server/api/file_request.hpp"

#include <charconv>
#include <set>

#include <boost/json.hpp>

#include "base/text.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::uint64_t kLeastRate = 16 << 10;  // slower readers are cut off (net::ServerLimits)
constexpr std::size_t kMaxPaths = 1000;
constexpr std::size_t kMostOwnTitle = 120;

// Walks an object's fields; each is known or an error.
class FileFields {
 public:
  FileFields(const json::object& object, std::string prefix)
      : object_(object), prefix_(std::move(prefix)) {}

  std::string Text(std::string_view name) {
    const auto* value = Find(name);
    if (value == nullptr) return {};
    if (!value->is_string()) return Bad(name, "a string"), std::string();
    return std::string(value->as_string());
  }
  std::string Path(std::string_view name) {
    std::string text = Text(name);
    if (text.find('\0') != std::string::npos) Bad(name, "a path without zero bytes");
    return text;
  }
  bool Flag(std::string_view name) {
    const auto* value = Find(name);
    if (value != nullptr && !value->is_bool()) Bad(name, "true or false");
    return value != nullptr && value->is_bool() && value->as_bool();
  }
  std::uint64_t Number(std::string_view name, std::uint64_t otherwise) {
    const auto* value = Find(name);
    if (value == nullptr) return otherwise;
    boost::system::error_code problem;
    const auto number = value->to_number<std::uint64_t>(problem);
    if (problem || number > (1ULL << 62)) return Bad(name, "a whole number"), otherwise;
    return number;
  }
  std::uint64_t Rate() {
    const auto rate = Number("rate", 0);
    if (rate != 0 && rate < kLeastRate)
      Bad("rate", fmt::format("at least {} bytes a second, or 0 for no limit", kLeastRate));
    return rate;
  }
  std::optional<std::uint32_t> Mode(std::string_view name) {
    const std::string text = Text(name);
    if (text.empty()) return {};
    std::uint32_t mode = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
    if (problem == std::errc{} && end == text.data() + text.size() && mode <= 07777) return mode;
    Bad(name, "a mode in octal, for example \"0644\"");
    return {};
  }
  std::string Hash(std::string_view name) {
    auto hash = FromHex(Text(name));
    if (hash && (hash->size() == 32 || hash->empty())) return std::move(*hash);
    Bad(name, "a SHA-256, 64 digits of 0-9a-f");
    return {};
  }
  const json::array* List(std::string_view name) {
    const auto* value = Find(name);
    if (value == nullptr) return nullptr;
    if (value->is_array()) return &value->as_array();
    return Bad(name, "a list"), nullptr;
  }
  void Bad(std::string_view name, std::string_view expected) {
    if (ok_) ok_ = Fail(ErrorCode::kInvalid, "{}{}: expected {}", prefix_, name, expected);
  }
  // Call last.
  Result<> Done() {
    for (const auto& item : object_)
      if (ok_ && !asked_.contains(std::string(item.key())))
        ok_ = Fail(ErrorCode::kInvalid, "unknown field '{}{}'", prefix_,
                   std::string_view(item.key()));
    return ok_;
  }

 private:
  const json::value* Find(std::string_view name) {
    asked_.insert(std::string(name));
    const auto* value = object_.if_contains(name);
    return value == nullptr || value->is_null() ? nullptr : value;
  }

  const json::object& object_;
  const std::string prefix_;
  std::set<std::string> asked_;
  Result<> ok_;
};

bool IsInside(std::string_view path) {
  for (const auto part : Split(path, '/'))
    if (part.empty() || part == "." || part == "..") return false;
  return true;
}

Result<FileEntry> ReadEntry(const json::value& value, std::size_t index) {
  const std::string prefix = fmt::format("push.files[{}].", index);
  if (!value.is_object())
    return Fail(ErrorCode::kInvalid, "push.files[{}]: expected an object", index);
  FileFields fields(value.as_object(), prefix);
  FileEntry entry;
  entry.path = fields.Path("path");
  entry.sha256 = fields.Hash("sha256");
  entry.size = fields.Number("size", 0);
  entry.folder = fields.Flag("folder");
  entry.mode = fields.Mode("mode").value_or(entry.folder ? 0755 : 0644);
  if (!entry.path.empty() && !IsInside(entry.path))
    fields.Bad("path", "a path below the folder, without '..'");
  if (entry.folder != entry.sha256.empty())
    fields.Bad("sha256", entry.folder ? "none for a folder" : "the hash of the file's content");
  if (auto done = fields.Done(); !done) return Fail(done.error());
  return entry;
}

Result<> ReadFiles(const json::array& list, FilePush& push) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    auto entry = ReadEntry(list[i], i);
    if (!entry) return Fail(entry.error());
    bytes += entry->path.size() + entry->sha256.size() + 20;
    push.files.push_back(std::move(*entry));
  }
  // An order must fit one message.
  if (bytes > kMaxCommandBytes)
    return Fail(ErrorCode::kInvalid,
                "push.files: {} files are more than fit an order; pack them into one archive",
                push.files.size());
  return {};
}

Result<> CheckPush(const FilePush& push, bool has_content) {
  const auto bad = [](std::string_view what) { return Fail(ErrorCode::kInvalid, "push.{}", what); };
  if (!push.to.starts_with('/') && !push.to.starts_with("${{"))
    return bad("to: expected a whole path, which begins with /");
  if (push.files.empty() != has_content)
    return bad("files: expected files, or content instead of them");
  if (push.content.size() > kMaxCommandBytes)
    return bad("content: at most 1 MB; put larger files into the artifact store");
  if (!push.tree && (push.files.size() > 1 || (!push.files.empty() && push.files[0].folder)))
    return bad("tree: expected true for a folder or for several files");
  if (!push.tree && !push.files.empty() && !push.files[0].path.empty())
    return bad("files: a single file has no path; its place is 'to'");
  if (push.to.ends_with('/') && !push.tree &&
      (push.name.empty() || !IsInside(push.name) || push.name.find('/') != std::string::npos))
    return bad("name: expected the file's own name, as 'to' is a folder");
  return {};
}

std::string TitleOf(const FilePush& push) {
  if (push.files.empty()) return fmt::format("push text to {}", push.to);
  const std::string what = !push.name.empty() ? push.name
                           : push.tree        ? fmt::format("{} files", push.files.size())
                                              : "a file";
  return fmt::format("push {} to {}", what, push.to);
}

std::string TitleOf(const FilePull& pull) {
  if (pull.paths.size() == 1) return fmt::format("pull {}", pull.paths[0]);
  return fmt::format("pull {} and {} more", pull.paths[0], pull.paths.size() - 1);
}

}  // namespace

Result<FilePush> ReadPush(const json::object& object) {
  FileFields fields(object, "push.");
  FilePush push;
  push.tree = fields.Flag("tree");
  push.to = fields.Path("to");
  push.name = fields.Path("name");
  push.content = fields.Text("content");
  push.mode = fields.Mode("mode");
  push.owner = fields.Path("owner");
  push.rate = fields.Rate();
  const auto* files = fields.List("files");
  if (auto done = fields.Done(); !done) return Fail(done.error());
  if (files != nullptr)
    if (auto read = ReadFiles(*files, push); !read) return Fail(read.error());
  if (auto fits = CheckPush(push, object.contains("content")); !fits) return Fail(fits.error());
  return push;
}

Result<FilePull> ReadPull(const json::object& object) {
  FileFields fields(object, "pull.");
  FilePull pull;
  pull.max_bytes = fields.Number("max_bytes", pull.max_bytes);
  pull.rate = fields.Rate();
  const auto* paths = fields.List("paths");
  if (paths == nullptr || paths->empty() || paths->size() > kMaxPaths)
    fields.Bad("paths", fmt::format("a list of 1 to {} paths", kMaxPaths));
  for (std::size_t i = 0; paths != nullptr && i < paths->size(); ++i) {
    const auto& path = paths->at(i);
    if (!path.is_string() || !std::string_view(path.as_string()).starts_with('/')) {
      fields.Bad(fmt::format("paths[{}]", i), "a whole path, which begins with /");
      break;
    }
    pull.paths.emplace_back(path.as_string());
  }
  if (auto done = fields.Done(); !done) return Fail(done.error());
  return pull;
}

Result<> ReadFileAction(const json::object* push, const json::object* pull, Command& command) {
  if (push == nullptr && pull == nullptr) return {};
  if (!command.stdin_data.empty() || !command.folder.empty())
    return Fail(ErrorCode::kInvalid, "stdin_base64 and folder are for commands, not for files");
  if (push != nullptr) {
    auto read = ReadPush(*push);
    if (!read) return Fail(read.error());
    command.push = std::make_shared<const FilePush>(std::move(*read));
    return {};
  }
  auto read = ReadPull(*pull);
  if (!read) return Fail(read.error());
  command.pull = std::make_shared<const FilePull>(std::move(*read));
  return {};
}

std::string FileTitle(const Command& command) {
  std::string title = command.push ? TitleOf(*command.push) : TitleOf(*command.pull);
  if (title.size() > kMostOwnTitle) title.resize(kMostOwnTitle);
  while (!IsUtf8(title)) title.pop_back();
  return title;
}

void PutFileView(const Command& command, json::object& view) {
  if (command.push) {
    const FilePush& push = *command.push;
    std::uint64_t bytes = push.content.size();
    for (const auto& file : push.files) bytes += file.size;
    view["push"] = {{"to", push.to},       {"name", push.name}, {"tree", push.tree},
                    {"owner", push.owner}, {"rate", push.rate}, {"files", push.files.size()},
                    {"bytes", bytes}};
  }
  if (command.pull)
    view["pull"] = {{"paths", json::value_from(command.pull->paths)},
                    {"max_bytes", command.pull->max_bytes},
                    {"rate", command.pull->rate}};
}

}  // namespace muster::server::api
