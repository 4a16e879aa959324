#include "cli/import_output.hpp"

#include <cerrno>
#include <cstring>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "adapters/crypto/digest.hpp"
#include "cli/api_client.hpp"
#include "cli/local_files.hpp"
#include "cli/persist.hpp"
#include "cli/target_folder.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

std::string ImportedName(const ImportedText& text) { return text.name + ".yaml"; }

// What somebody may have corrected by hand is not written over.
Result<> CheckFiles(const TargetFolder& folder, std::span<const ImportedText> texts) {
  for (const auto& text : texts) {
    const auto file = folder.Open(ImportedName(text));
    if (!file && file.error().code == ErrorCode::kNotFound) continue;
    if (!file) return Fail(file.error());
    const auto hash = HashOpenFile(file->Get(), folder.PathOf(ImportedName(text)));
    if (!hash) return Fail(hash.error());
    if (hash->sha256 != crypto::Sha256(text.text))
      return Fail(ErrorCode::kConflict,
                  "'{}' is there and says something else; --force writes over it",
                  folder.PathOf(ImportedName(text)));
  }
  return {};
}

Result<> WriteText(int file, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const auto wrote = ::write(file, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0)
      return Fail(ErrorCode::kInvalid, "cannot write '{}': {}", path, std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
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
  const auto folder = TargetFolder::Make(flags.folder);
  if (!folder) return Fail(folder.error());
  if (!flags.force)
    if (auto free = CheckFiles(*folder, texts); !free) return free;
  std::size_t no_folders = 0;  // names have no slashes
  for (const auto& text : texts) {
    const std::string name = ImportedName(text);
    const auto put = folder->Put(name, 0666, no_folders, [&](int file) {
      return WriteText(file, text.text, folder->PathOf(name));
    });
    if (!put) return put;
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
