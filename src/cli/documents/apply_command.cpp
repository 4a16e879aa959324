#include <cstdlib>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/text.hpp"
#include "base/visible.hpp"
#include "cli/client/api_client.hpp"
#include "cli/client/contexts.hpp"
#include "cli/client/retries.hpp"
#include "cli/documents/document_commands.hpp"
#include "cli/documents/document_files.hpp"
#include "cli/documents/kind_words.hpp"
#include "cli/files/local_files.hpp"
#include "cli/files/upload.hpp"
#include "cli/runs/plan_text.hpp"
#include "cli/terminal/confirm.hpp"
#include "cli/terminal/text_diff.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kApplyExamples = R"(Examples:
  muster apply -f kernel-upgrade.yaml            a job, with the scripts and files beside it
  muster apply -f jobs/                          everything in a folder, all of it or nothing
  muster apply -f jobs/ --dry-run --diff         what would change
  muster apply -f jobs/ --prune                  also delete what the folder no longer has
  muster apply -f jobs/web/ --root jobs          documents may use files of all of jobs/
  muster get job kernel-upgrade -o yaml | muster apply -f -

Applying the same again changes nothing. Errors are reported as FILE:LINE:COLUMN, and then
nothing is applied. --prune deletes documents of the kinds that the files have, and of no other.
Documents may use scripts and files inside the folder that -f names, or that the named file is in;
paths and links that lead out of it are refused. --root names a wider folder. Documents from stdin
may use files with --root only. Names that begin with a dot (.git, .config) are refused, in folders
that are pushed too, unless --dot-files is given; a file with your own token always is.)";

struct ApplyFlags {
  std::vector<std::string> files;
  std::string root;
  bool dot_files = false;
  std::string reason;
  bool yes = false;
  bool dry_run = false;
  bool diff = false;
  bool prune = false;
};

int FailProblems(const std::string& lines) {
  WriteMessage(lines + "\n");
  return 1;
}

json::object ScriptsOf(const DocumentFiles::File& file) {
  json::object scripts;
  for (const auto& [path, bytes] : file.scripts)
    scripts[path] =
        IsUtf8(bytes) ? json::value(bytes) : json::value(json::object{{"base64", ToBase64(bytes)}});
  return scripts;
}

// Hashes what is pushed and, unless nothing is to be changed, sends it.
Result<json::object> PushesOf(const Context& context, ApiClient& api, bool dry_run,
                              const DocumentFiles::File& file) {
  json::object pushes;
  for (const auto& [path, found] : file.pushes) {
    CopyPlan plan = found;
    if (auto hashed = HashAll(plan); !hashed) return Fail(hashed.error());
    if (!dry_run)
      if (auto sent = UploadAll(context, api, plan); !sent) return Fail(sent.error());
    pushes[path] = FilesView(plan);
  }
  return pushes;
}

Result<json::object> BodyOf(const Context& context, ApiClient& api, const ApplyFlags& flags,
                            const DocumentFiles& all, bool dry_run) {
  json::array list;
  for (const auto& file : all.files) {
    auto pushes = PushesOf(context, api, dry_run, file);
    if (!pushes) return Fail(pushes.error());
    list.push_back({{"file", file.source.file},
                    {"text", file.source.text},
                    {"attachments", ScriptsOf(file)},
                    {"pushes", std::move(*pushes)}});
  }
  json::object body{{"documents", std::move(list)}};
  if (dry_run) body["dry_run"] = true;
  if (flags.prune) body["prune"] = true;
  if (!flags.reason.empty()) body["reason"] = flags.reason;
  return body;
}

std::string KeyOf(std::string_view kind, std::string_view name) {
  return fmt::format("/documents/{}/{}", Segment(kind), Segment(name));
}

// How the texts and scripts differ from what the server has now.
Result<std::string> DiffOf(ApiClient& api, const DocumentFiles& all) {
  std::string text;
  const auto add = [&](const std::string& title, const std::string& from, const std::string& to) {
    const auto diff = TextDiff(from, to);
    if (!diff.empty()) text += fmt::format("--- {}\n+++ {}\n{}", title, title, diff);
  };
  for (const auto& document : all.reading.documents) {
    const auto kind = documents::Name(documents::KindOf(document));
    const auto& name = documents::NameOf(document);
    auto kept = api.Get(KeyOf(kind, name));
    if (!kept && kept.error().code != ErrorCode::kNotFound) return Fail(kept.error());
    const json::value old = kept ? *kept : json::value(json::object());
    add(fmt::format("{} {}", kind, name), TextOf(old, "text"), document.text);
    const auto* job = std::get_if<documents::JobDocument>(&document.body);
    if (job == nullptr) continue;
    for (const auto& file : job->files)
      if (file.use == documents::FileReference::Use::kScript)
        add(fmt::format("{} {}: {}", kind, name, file.path),
            TextOf(FieldOf(old, "attachments"), file.path),
            CommandOf(job->spec.stages[file.stage])->script);
  }
  return text;
}

void PrintFates(const json::value& answer, bool dry_run) {
  std::size_t widest = 0;
  const auto title = [](const json::value& one) {
    return LineOf(one, "kind") + " " + LineOf(one, "name");
  };
  for (const auto& one : ListOf(answer, "documents")) widest = std::max(widest, title(one).size());
  std::string text;
  for (const auto& one : ListOf(answer, "documents")) {
    const auto result = LineOf(one, "result");
    text += fmt::format("{:<{}}  {}{}", title(one), widest, dry_run ? "would be " : "", result);
    if (NumberOf(one, "version") > 0 && result != "deleted")
      text += fmt::format(" (version {})", NumberOf(one, "version"));
    text += "\n";
  }
  Write(stdout, text);
}

Result<json::value> SendDocuments(const Context& context, ApiClient& api, const ApplyFlags& flags,
                                  const DocumentFiles& all, bool dry_run) {
  const auto body = BodyOf(context, api, flags, all, dry_run);
  if (!body) return Fail(body.error());
  auto answer = Persist(context, kPatience, [&] { return api.Post("/documents", *body); });
  if (answer && !dry_run) StaysDone("the documents are applied all the same");
  return answer;
}

// Asks about what --prune would delete.
Result<bool> AgreedToPrune(const Context& context, ApiClient& api, const ApplyFlags& flags,
                           const DocumentFiles& all) {
  if (!flags.prune || flags.dry_run || flags.yes || !context.CanAsk()) return true;
  const auto plan = SendDocuments(context, api, flags, all, true);
  if (!plan) return Fail(plan.error());
  std::vector<std::string> names;
  for (const auto& one : ListOf(*plan, "documents"))
    if (TextOf(one, "result") == "deleted")
      names.push_back(TextOf(one, "kind") + " " + TextOf(one, "name"));
  if (names.empty()) return true;
  return Agreed(context, api, flags.yes, Role::kOperator,
                {.act = fmt::format("Delete {} document{}", Count(names.size()),
                                    names.size() == 1 ? "" : "s"),
                 .count = names.size(),
                 .names = fmt::format("{}", fmt::join(names, ", "))});
}

// Files that hold the caller's tokens, wherever they are.
std::vector<std::string> TokenFiles(const Context& context) {
  std::vector<std::string> files{context.token_file};
  if (const char* named = std::getenv("MUSTER_TOKEN_FILE")) files.emplace_back(named);
  if (const auto folder = Contexts::DefaultFolder(); !folder.empty())
    files.push_back((folder / Contexts::kFile).string());
  return files;
}

Result<int> Apply(const Context& context, const ApplyFlags& flags) {
  const auto all = ReadDocumentFiles(
      flags.files, {.root = flags.root,
                    .rules = {.dot_files = flags.dot_files, .credentials = TokenFiles(context)}});
  if (!all) return Fail(all.error());
  for (const auto& why : all->left_out) context.Say("left out: " + why);
  if (!all->reading.problems.empty()) {
    std::vector<std::string> lines;
    for (const auto& problem : all->reading.problems)
      lines.push_back(VisibleLine(documents::Written(problem)));
    return FailProblems(fmt::format("{}", fmt::join(lines, "\n")));
  }
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  if (flags.diff) {
    const auto diff = DiffOf(*api, *all);
    if (!diff) return Fail(diff.error());
    WriteCopy(stdout, *diff);
  }
  const auto agreed = AgreedToPrune(context, *api, flags, *all);
  if (agreed && !*agreed) return kExitInterrupted;
  const auto answer = agreed ? SendDocuments(context, *api, flags, *all, flags.dry_run)
                             : Result<json::value>(Fail(agreed.error()));
  if (!answer && answer.error().code == ErrorCode::kInvalid)
    return FailProblems(answer.error().message);
  if (!answer) return Fail(answer.error());
  if (!context.PrintDocument(*answer)) PrintFates(*answer, flags.dry_run);
  SayWarnings(context, *answer);
  return 0;
}

}  // namespace

void AddApply(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("apply", "Apply documents: jobs, triggers and other kinds");
  const auto flags = std::make_shared<ApplyFlags>();
  command->footer(kApplyExamples + ("\n\n" + KindsHelp()));
  command->add_option("-f,--file", flags->files, "A YAML file, a folder of them, or - for stdin")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--root", flags->root,
                   "Let documents use files inside this folder (default: the one that -f names)")
      ->type_name("DIR");
  command->add_flag("--dot-files", flags->dot_files,
                    "Let documents use files and folders whose names begin with a dot");
  command->add_flag("--dry-run", flags->dry_run, "Show what would change, and apply nothing");
  command->add_flag("--diff", flags->diff, "Show differences from the server's documents");
  command->add_flag("--prune", flags->prune, "Delete documents that the files no longer have");
  command->add_flag("-y,--yes", flags->yes, "Do not ask (with --prune)");
  command->add_option("--reason", flags->reason, "Reason, for the audit trail");
  command->callback(
      [&context, flags] { context.action = [&context, flags] { return Apply(context, *flags); }; });
}

}  // namespace muster::cli
