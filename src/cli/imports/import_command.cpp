#include "cli/imports/import_command.hpp"

#include <memory>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/imports/import_file.hpp"
#include "cli/imports/import_output.hpp"
#include "imports/rundeck.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kImportExamples = R"(Examples:
  muster import rundeck jobs.yaml                     documents to stdout, the report to stderr
  muster import rundeck *.yaml --into jobs            a file for each job
  muster import rundeck jobs.yaml -o json             both, for programs
  muster import rundeck jobs.yaml --apply --dry-run   would the server take them?

Export with: rd jobs list -p PROJECT -F yaml --file jobs.yaml. The report says of every job what was
carried over, what changed in meaning and what was not carried over, with its line. Import jobs that
refer to each other together.)";

constexpr std::size_t kMostFileBytes = 16 << 20;

struct RundeckFlags {
  std::vector<std::string> files;
  ImportFlags import;
};

Result<imports::RundeckJobs> ReadAll(const RundeckFlags& flags) {
  std::vector<documents::Source> sources;
  for (const auto& path : flags.files) {
    auto source = ReadImportFile(path, kMostFileBytes);
    if (!source) return Fail(source.error());
    sources.push_back(std::move(*source));
  }
  return imports::ReadRundeck(sources);
}

json::object ViewOf(const imports::RundeckJob& job) {
  json::array notes;
  for (const auto& note : job.notes)
    notes.push_back({{"carried", imports::Name(note.carried)},
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
  if (flags.import.folder.empty() && !flags.import.apply) WriteCopy(stdout, documents);
  if (!report.empty()) report.pop_back();
  context.SayLines(report);
}

Result<int> ImportRundeck(const Context& context, const RundeckFlags& flags) {
  if (auto good = CheckImportFlags(flags.import); !good) return Fail(good.error());
  const auto all = ReadAll(flags);
  if (!all) return Fail(all.error());
  if (!all->problems.empty()) return FailFindings(all->problems);
  std::vector<ImportedText> texts;
  for (const auto& job : all->jobs) texts.push_back({job.name, job.text});
  if (auto written = WriteImported(flags.import, texts); !written) return Fail(written.error());
  Print(context, flags, *all);
  return flags.import.apply ? ApplyImported(context, flags.import, texts) : 0;
}

}  // namespace

void AddImport(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("import", "Import jobs of other tools");
  command->footer(kImportExamples);
  command->require_subcommand(1);
  auto* rundeck = command->add_subcommand("rundeck", "Turn Rundeck's jobs (YAML) into documents");
  const auto flags = std::make_shared<RundeckFlags>();
  rundeck->footer(kImportExamples);
  rundeck->add_option("files", flags->files, "Exports in YAML; - is stdin")
      ->required()
      ->type_name("FILE");
  AddImportFlags(*rundeck, flags->import, "job");
  rundeck->callback([&context, flags] {
    context.action = [&context, flags] { return ImportRundeck(context, *flags); };
  });
  AddImportCrontab(*command, context);
}

}  // namespace muster::cli
