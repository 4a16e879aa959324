#include <algorithm>
#include <map>
#include <memory>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/visible.hpp"
#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/hosts/host_acts.hpp"
#include "cli/imports/import_file.hpp"
#include "cli/imports/import_output.hpp"
#include "cli/terminal/confirm.hpp"
#include "domain/host_ranges.hpp"
#include "imports/inventory.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kHostsImportExamples = R"(Examples:
  muster hosts import hosts.txt --dry-run        what would change
  muster hosts import fleet.csv                  columns beside the name become labels
  muster hosts import inventory.ini              Ansible, INI or YAML; groups become groups
  muster hosts import --format lines - < names

It makes documents of kind host and group, as muster apply would; importing the same again changes
nothing. In a pipe and with --yes, replacing documents that say something else takes --force. Hosts that are declared so and have not joined are shown by: muster hosts --missing)";

// A request may have 4 MB; what it says of documents is much more than their texts.
constexpr std::size_t kMostListBytes = 1 << 20;
constexpr std::size_t kMostDocuments = 2000;

struct HostsImportFlags {
  std::string file;
  std::string format = "auto";
  std::string reason;
  bool dry_run = false;
  bool force = false;
  bool yes = false;
};

imports::InventoryFormat FormatOf(const HostsImportFlags& flags, const documents::Source& source) {
  if (flags.format == "lines") return imports::InventoryFormat::kLines;
  if (flags.format == "csv") return imports::InventoryFormat::kCsv;
  if (flags.format == "ansible") return imports::InventoryFormat::kAnsible;
  return imports::GuessFormat(source.file, source.text);
}

// The documents as texts that each fit a request; groups come after all hosts.
std::vector<std::string> TextsOf(const imports::Inventory& inventory) {
  std::vector<std::string> texts;
  std::size_t count = kMostDocuments;
  const auto add = [&](const std::string& document) {
    if (count == kMostDocuments || texts.back().size() + document.size() > kMostListBytes) {
      texts.emplace_back();
      count = 0;
    }
    texts.back() += (count++ == 0 ? "" : "---\n") + document;
  };
  for (const auto& host : inventory.hosts) add(imports::DocumentOf(host));
  for (const auto& group : inventory.groups) add(imports::DocumentOf(group));
  return texts;
}

// What becomes of the documents, over all requests.
Result<json::array> Send(const Context& context, ApiClient& api, const HostsImportFlags& flags,
                         const std::vector<std::string>& texts, bool dry_run) {
  json::array fates;
  for (const auto& text : texts) {
    const json::object body{
        {"documents", json::array{json::object{{"file", flags.file}, {"text", text}}}},
        {"dry_run", dry_run},
        {"reason", flags.reason}};
    const auto answer = Persist(context, kPatience, [&] { return api.Post("/documents", body); });
    if (!answer) return Fail(answer.error());
    for (const auto& one : ListOf(*answer, "documents")) fates.push_back(one);
  }
  return fates;
}

// "host   would be created  40: web[001-040]", a line for each kind and fate.
std::string Summary(const json::array& fates, bool dry_run) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> names;
  for (const auto& one : fates)
    names[{LineOf(one, "kind"), LineOf(one, "result")}].push_back(TextOf(one, "name"));
  std::string text;
  for (const auto& [what, which] : names)
    text += fmt::format("{:<5}  {}{:<9}  {}: {}\n", what.first, dry_run ? "would be " : "",
                        what.second, Count(which.size()), VisibleLine(FoldHostNames(which, 2000)));
  return text;
}

// How many documents would change.
std::uint64_t ChangesOf(const json::array& fates) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      fates, [](const json::value& one) { return TextOf(one, "result") != "unchanged"; }));
}

// Somebody who is asked sees what would be replaced; in a pipe and with --yes it takes --force.
Result<> CheckReplaced(const Context& context, const HostsImportFlags& flags,
                       const json::array& plan) {
  if (flags.force || (!flags.yes && context.CanAsk())) return {};
  std::vector<std::string> changed;
  for (const auto& one : plan)
    if (TextOf(one, "result") == "changed")
      changed.push_back(LineOf(one, "kind") + " " + LineOf(one, "name"));
  return RefuseChanges(changed);
}

json::array RemarksView(const imports::Inventory& inventory) {
  json::array list;
  for (const auto& remark : inventory.remarks)
    list.push_back({{"line", remark.position.line},
                    {"column", remark.position.column},
                    {"message", remark.sentence}});
  return list;
}

int Print(const Context& context, const imports::Inventory& inventory, json::array fates,
          bool dry_run) {
  const auto text = Summary(fates, dry_run);
  if (!context.PrintDocument(json::object{{"documents", std::move(fates)},
                                          {"remarks", RemarksView(inventory)},
                                          {"dry_run", dry_run}}))
    Write(stdout, text);
  return 0;
}

Result<int> Import(const Context& context, const HostsImportFlags& flags) {
  const auto source = ReadImportFile(flags.file, imports::kMostInventoryBytes);
  if (!source) return Fail(source.error());
  const auto inventory = imports::ReadInventory(*source, FormatOf(flags, *source));
  if (!inventory.problems.empty()) return FailFindings(inventory.problems);
  SayFindings(context, inventory.remarks);
  const auto texts = TextsOf(inventory);
  if (texts.empty()) return Fail(ErrorCode::kInvalid, "'{}' names no hosts", flags.file);
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  auto plan = Send(context, *api, flags, texts, true);
  if (!plan) return Fail(plan.error());
  if (flags.dry_run) return Print(context, inventory, std::move(*plan), true);
  if (auto free = CheckReplaced(context, flags, *plan); !free) return Fail(free.error());
  if (const auto changes = ChangesOf(*plan); changes > 0) {
    const auto summary = Summary(*plan, true);
    context.SayLines(summary.substr(0, summary.size() - 1));
    const auto agreed =
        Agreed(context, *api, flags.yes, Role::kAdmin,
               {.act = fmt::format("Import {} document{}", Count(changes), changes == 1 ? "" : "s"),
                .count = changes});
    if (!agreed) return Fail(agreed.error());
    if (!*agreed) return kExitInterrupted;
  }
  auto done = Send(context, *api, flags, texts, false);
  if (!done) return Fail(done.error());
  return Print(context, inventory, std::move(*done), false);
}

}  // namespace

void AddHostsImport(CLI::App& hosts, Context& context) {
  auto* command = hosts.add_subcommand("import", "Declare hosts and groups that a file lists");
  const auto flags = std::make_shared<HostsImportFlags>();
  command->footer(kHostsImportExamples);
  command->add_option("file", flags->file, "The list, or - for stdin")
      ->required()
      ->type_name("FILE");
  command->add_option("--format", flags->format, "Format of the file; auto: by its first lines")
      ->check(CLI::IsMember({"auto", "lines", "csv", "ansible"}))
      ->capture_default_str();
  command->add_flag("--force", flags->force, "Replace documents that differ");
  command->add_flag("--dry-run", flags->dry_run, "Show what would change, and change nothing");
  command->add_option("--reason", flags->reason, "Reason, for the audit trail");
  command->add_flag("-y,--yes", flags->yes, "Do not ask");
  command->callback([&context, flags] {
    context.action = [&context, flags] { return Import(context, *flags); };
  });
}

}  // namespace muster::cli
