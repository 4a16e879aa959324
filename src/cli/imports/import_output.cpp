#include "cli/imports/import_output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "adapters/crypto/digest.hpp"
#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/files/local_files.hpp"
#include "cli/files/target_folder.hpp"

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

Result<json::value> SendImported(const Context& context, ApiClient& api, const ImportFlags& flags,
                                 std::span<const ImportedText> texts, bool dry_run) {
  json::array list;
  for (const auto& text : texts)
    list.push_back({{"file", text.name + ".yaml"}, {"text", text.text}});
  const json::object body{
      {"documents", std::move(list)}, {"dry_run", dry_run}, {"reason", flags.reason}};
  return Persist(context, kPatience, [&] { return api.Post("/documents", body); });
}

std::vector<std::string> ChangedIn(const json::value& plan,
                                   const std::set<std::string>& may_change) {
  std::vector<std::string> changed;
  for (const auto& one : ListOf(plan, "documents")) {
    auto document = LineOf(one, "kind") + " " + LineOf(one, "name");
    if (TextOf(one, "result") == "changed" && !may_change.contains(document))
      changed.push_back(std::move(document));
  }
  return changed;
}

Result<int> FailImported(const Error& error) {
  if (error.code != ErrorCode::kInvalid) return Fail(error);
  WriteMessage(error.message + "\n");
  return 1;
}

void PrintImported(const Context& context, const json::value& answer, bool dry_run) {
  if (context.OutputFormat() != Format::kTable) return;
  for (const auto& one : ListOf(answer, "documents"))
    Write(stdout, OwnLine(fmt::format("{} {}  {}{}", TextOf(one, "kind"), TextOf(one, "name"),
                                      dry_run ? "would be " : "", TextOf(one, "result"))));
}

}  // namespace

void AddImportFlags(CLI::App& command, ImportFlags& flags, std::string_view each) {
  command
      .add_option("--into", flags.folder,
                  fmt::format("Write a file for each {} into this folder", each))
      ->type_name("DIR");
  command.add_flag("--force", flags.force, "Replace files and documents that differ");
  command.add_flag("--apply", flags.apply, "Apply them, all or none");
  command.add_flag("--dry-run", flags.dry_run,
                   "With --apply: show what would change, and apply nothing");
  command.add_option("--reason", flags.reason, "Reason, for the audit trail");
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
                          std::span<const ImportedText> texts,
                          const std::set<std::string>& may_change) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto plan = SendImported(context, *api, flags, texts, true);
  if (!plan) return FailImported(plan.error());
  if (flags.dry_run) PrintImported(context, *plan, true);
  if (!flags.force)
    if (auto free = RefuseChanges(ChangedIn(*plan, may_change)); !free) return Fail(free.error());
  if (flags.dry_run) return 0;
  const auto answer = SendImported(context, *api, flags, texts, false);
  if (!answer) return FailImported(answer.error());
  PrintImported(context, *answer, false);
  return 0;
}

Result<> RefuseChanges(std::span<const std::string> documents) {
  constexpr std::size_t kMostNamed = 20;
  if (documents.empty()) return {};
  const auto named = documents.first(std::min(documents.size(), kMostNamed));
  const auto more = documents.size() - named.size();
  return Fail(ErrorCode::kConflict,
              "nothing was applied: {}{} would replace what the server has, which says something "
              "else ('muster get KIND NAME' shows it); --force replaces it",
              fmt::join(named, ", "), more == 0 ? "" : fmt::format(" and {} more", Count(more)));
}

}  // namespace muster::cli
