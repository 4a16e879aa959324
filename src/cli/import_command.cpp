#include "cli/import_command.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/api_client.hpp"
#include "cli/import_file.hpp"
#include "cli/run_result.hpp"
#include "cli/terminal_text.hpp"
#include "imports/rundeck.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr const char* kExamples = R"(Examples:
  muster import rundeck jobs.yaml                     documents to stdout, the report to stderr
  muster import rundeck *.yaml --into jobs            a file for each job
  muster import rundeck jobs.yaml -o json             both, for programs
  muster import rundeck jobs.yaml --apply --dry-run   would the server take them?

Export with: rd jobs list -p PROJECT -F yaml --file jobs.yaml. The report says of every job what was
carried over, what changed in meaning and what was not carried over, with its line. Import jobs that
refer to each other together.)";

constexpr std::size_t kMostBytes = 16 << 20;

struct RundeckFlags {
  std::vector<std::string> files;
  std::string folder;
  std::string reason;
  bool apply = false;
  bool dry_run = false;
  bool force = false;
};

Result<imports::RundeckJobs> ReadAll(const RundeckFlags& flags) {
  std::vector<documents::Source> sources;
  for (const auto& path : flags.files) {
    auto source = ReadImportFile(path, kMostBytes);
    if (!source) return Fail(source.error());
    sources.push_back(std::move(*source));
  }
  return imports::ReadRundeck(sources);
}

fs::path PathOf(const RundeckFlags& flags, const imports::RundeckJob& job) {
  return fs::path(flags.folder) / (job.name + ".yaml");
}

// What somebody may have corrected by hand is not written over.
Result<> CheckFiles(const RundeckFlags& flags, const imports::RundeckJobs& all) {
  for (const auto& job : all.jobs) {
    std::ifstream file(PathOf(flags, job), std::ios::binary);
    if (!file || flags.force) continue;
    if (std::string(std::istreambuf_iterator<char>(file), {}) != job.text)
      return Fail(ErrorCode::kConflict,
                  "'{}' is there and says something else; --force writes over it",
                  PathOf(flags, job).string());
  }
  return {};
}

Result<> WriteFiles(const RundeckFlags& flags, const imports::RundeckJobs& all) {
  if (auto free = CheckFiles(flags, all); !free) return free;
  std::error_code problem;
  fs::create_directories(flags.folder, problem);
  for (const auto& job : all.jobs) {
    const auto path = PathOf(flags, job);
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << job.text;
    file.close();
    if (!file)
      return Fail(ErrorCode::kInvalid, "cannot write '{}': {}", path.string(),
                  std::strerror(errno));
  }
  return {};
}

std::string_view Name(imports::Carried carried) {
  switch (carried) {
    case imports::Carried::kOver:
      return "over";
    case imports::Carried::kChanged:
      return "changed";
    case imports::Carried::kLost:
      return "lost";
  }
  return "";
}

json::object ViewOf(const imports::RundeckJob& job) {
  json::array notes;
  for (const auto& note : job.notes)
    notes.push_back({{"carried", Name(note.carried)},
                     {"line", note.at.line},
                     {"column", note.at.column},
                     {"message", note.sentence}});
  return {{"name", job.name},    {"title", job.title}, {"file", job.file},
          {"line", job.at.line}, {"text", job.text},   {"notes", std::move(notes)}};
}

// Documents go to files or to stdout; the report is for people.
void Print(const Context& context, const RundeckFlags& flags, const imports::RundeckJobs& all) {
  json::array views;
  std::string documents;
  std::string report;
  for (const auto& job : all.jobs) {
    views.push_back(ViewOf(job));
    documents += (documents.empty() ? "" : "---\n") + job.text;
    report += imports::ReportOf(job);
  }
  if (context.PrintDocument(json::object{{"jobs", std::move(views)}})) return;
  if (flags.folder.empty() && !flags.apply)
    Write(stdout, context.terminal.stdout_tty ? ForTerminal(documents) : documents);
  if (!report.empty()) report.pop_back();
  context.Say(context.terminal.stderr_tty ? ForTerminal(report) : report);
}

Result<int> Apply(const Context& context, const RundeckFlags& flags,
                  const imports::RundeckJobs& all) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  json::array list;
  for (const auto& job : all.jobs)
    list.push_back({{"file", job.name + ".yaml"}, {"text", job.text}});
  const json::object body{
      {"documents", std::move(list)}, {"dry_run", flags.dry_run}, {"reason", flags.reason}};
  const auto answer =
      Persist(context, std::chrono::seconds(30), [&] { return api->Post("/documents", body); });
  if (!answer && answer.error().code == ErrorCode::kInvalid) {
    Write(stderr, answer.error().message + "\n");
    return 1;
  }
  if (!answer) return Fail(answer.error());
  if (context.OutputFormat() != Format::kTable) return 0;
  for (const auto& one : ListOf(*answer, "documents"))
    Write(stdout, fmt::format("{} {}  {}{}\n", TextOf(one, "kind"), TextOf(one, "name"),
                              flags.dry_run ? "would be " : "", TextOf(one, "result")));
  return 0;
}

Result<int> ImportRundeck(const Context& context, const RundeckFlags& flags) {
  if (flags.dry_run && !flags.apply)
    return Fail(ErrorCode::kInvalid, "--dry-run goes with --apply; without it nothing is applied");
  const auto all = ReadAll(flags);
  if (!all) return Fail(all.error());
  if (!all->problems.empty()) return FailFindings(all->problems);
  if (!flags.folder.empty())
    if (auto written = WriteFiles(flags, *all); !written) return Fail(written.error());
  Print(context, flags, *all);
  return flags.apply ? Apply(context, flags, *all) : 0;
}

}  // namespace

void AddImport(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("import", "Import what other tools keep");
  command->footer(kExamples);
  command->require_subcommand(1);
  auto* rundeck = command->add_subcommand("rundeck", "Turn Rundeck's jobs (YAML) into documents");
  const auto flags = std::make_shared<RundeckFlags>();
  rundeck->footer(kExamples);
  rundeck->add_option("files", flags->files, "Exports in YAML; - is stdin")
      ->required()
      ->type_name("FILE");
  rundeck->add_option("--into", flags->folder, "Write a file for each job into this folder")
      ->type_name("DIR");
  rundeck->add_flag("--force", flags->force, "Write over files that say something else");
  rundeck->add_flag("--apply", flags->apply, "Apply them, all or none");
  rundeck->add_flag("--dry-run", flags->dry_run, "With --apply: only check, and say what would be");
  rundeck->add_option("--reason", flags->reason, "Why, for the audit trail");
  rundeck->callback([&context, flags] {
    context.action = [&context, flags] { return ImportRundeck(context, *flags); };
  });
}

}  // namespace muster::cli
