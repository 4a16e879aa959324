#include "cli/import_output.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/api_client.hpp"
#include "cli/persist.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

fs::path ImportedPath(const ImportFlags& flags, const ImportedText& text) {
  return fs::path(flags.folder) / (text.name + ".yaml");
}

// What somebody may have corrected by hand is not written over.
Result<> CheckFiles(const ImportFlags& flags, std::span<const ImportedText> texts) {
  for (const auto& text : texts) {
    std::ifstream file(ImportedPath(flags, text), std::ios::binary);
    if (!file || flags.force) continue;
    if (std::string(std::istreambuf_iterator<char>(file), {}) != text.text)
      return Fail(ErrorCode::kConflict,
                  "'{}' is there and says something else; --force writes over it",
                  ImportedPath(flags, text).string());
  }
  return {};
}

// A link in the folder is not followed: it could lead to any file. False with errno.
bool WriteFile(const std::string& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0) return false;
  while (!text.empty()) {
    const auto wrote = ::write(fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) break;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return ::close(fd) == 0 && text.empty();
}

}  // namespace

void AddImportFlags(CLI::App& command, ImportFlags& flags, std::string_view each) {
  command
      .add_option("--into", flags.folder,
                  fmt::format("Write a file for each {} into this folder", each))
      ->type_name("DIR");
  command.add_flag("--force", flags.force, "Write over files that say something else");
  command.add_flag("--apply", flags.apply, "Apply them, all or none");
  command.add_flag("--dry-run", flags.dry_run, "With --apply: only check, and say what would be");
  command.add_option("--reason", flags.reason, "Why, for the audit trail");
}

Result<> CheckImportFlags(const ImportFlags& flags) {
  if (flags.dry_run && !flags.apply)
    return Fail(ErrorCode::kInvalid, "--dry-run goes with --apply; without it nothing is applied");
  return {};
}

Result<> WriteImported(const ImportFlags& flags, std::span<const ImportedText> texts) {
  if (flags.folder.empty()) return {};
  if (auto free = CheckFiles(flags, texts); !free) return free;
  std::error_code problem;
  fs::create_directories(flags.folder, problem);
  for (const auto& text : texts) {
    const auto path = ImportedPath(flags, text).string();
    if (!WriteFile(path, text.text))
      return Fail(ErrorCode::kInvalid, "cannot write '{}': {}", path, std::strerror(errno));
  }
  return {};
}

Result<int> ApplyImported(const Context& context, const ImportFlags& flags,
                          std::span<const ImportedText> texts) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  json::array list;
  for (const auto& text : texts)
    list.push_back({{"file", text.name + ".yaml"}, {"text", text.text}});
  const json::object body{
      {"documents", std::move(list)}, {"dry_run", flags.dry_run}, {"reason", flags.reason}};
  const auto answer = Persist(context, kPatience, [&] { return api->Post("/documents", body); });
  if (!answer && answer.error().code == ErrorCode::kInvalid) {
    Write(stderr, answer.error().message + "\n");
    return 1;
  }
  if (!answer) return Fail(answer.error());
  if (context.OutputFormat() != Format::kTable) return 0;
  for (const auto& one : ListOf(*answer, "documents"))
    Write(stdout, OwnLine(fmt::format("{} {}  {}{}", TextOf(one, "kind"), TextOf(one, "name"),
                                      flags.dry_run ? "would be " : "", TextOf(one, "result"))));
  return 0;
}

}  // namespace muster::cli
