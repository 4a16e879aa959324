#include <map>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/documents/document_commands.hpp"
#include "cli/documents/document_diff.hpp"
#include "cli/documents/kind_words.hpp"
#include "cli/terminal/confirm.hpp"
#include "cli/terminal/list.hpp"
#include "cli/usage.hpp"
#include "documents/kinds.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kGetExamples = R"(Examples:
  muster get jobs                          every job: its version, who applied it, when
  muster get job kernel-upgrade -o yaml    as it was written, to edit and apply again
  muster get job kernel-upgrade --version 2 -o yaml
  muster get job kernel-upgrade --diff 3 4 what changed from version 3 to 4
  muster get job kernel-upgrade --diff 3   what changed since version 3
  muster get groups -o yaml                all of them, as one file
  muster get channels
  muster get hosts                         hosts that documents expect; see also: muster hosts)";

constexpr const char* kDeleteExamples = R"(Examples:
  muster delete job kernel-upgrade         its runs stay, and so do its versions
  muster delete group db --reason 'moved to labels')";

struct DocumentFlags {
  std::string kind;
  std::string name;
  std::string reason;
  std::uint32_t version = 0;
  std::vector<std::uint32_t> diff;
  bool yes = false;
};

// Kinds may be written as one or as many.
Result<std::string> KindOf(const std::string& word) {
  if (const auto* row = documents::FindKind(word)) return std::string(row->name);
  std::vector<std::string> kinds;
  for (const auto name : documents::KindNames()) kinds.emplace_back(name);
  if (const auto meant = Similar(word, kinds); !meant.empty())
    return Fail(ErrorCode::kInvalid, "'{}' is no kind; did you mean {}?", word, meant.front());
  return Fail(ErrorCode::kInvalid,
              "'{0}' is no kind; there are {1}; for a document of that name: muster get job {0}",
              word, PluralKinds());
}

std::string DocumentsPath(const std::string& kind, const std::string& name) {
  return fmt::format("/documents/{}/{}", Segment(kind), Segment(name));
}

std::string WithEnd(std::string text) {
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

Result<int> GetOne(const Context& context, ApiClient& api, const std::string& kind,
                   const DocumentFlags& flags) {
  Query query;
  if (flags.version > 0) query.emplace_back("version", std::to_string(flags.version));
  const auto found = api.Get(DocumentsPath(kind, flags.name), query);
  if (!found) return Fail(found.error());
  if (context.OutputFormat() == Format::kJson || context.OutputFormat() == Format::kJsonl) {
    context.PrintDocument(*found);
    return 0;
  }
  if (context.OutputFormat() == Format::kTable)
    context.Say(fmt::format("{} {}, version {}, applied {} by {}", kind, flags.name,
                            NumberOf(*found, "version"),
                            context.err_times.Text(TextOf(*found, "at")), TextOf(*found, "by")));
  WriteCopy(stdout, WithEnd(TextOf(*found, "text")));
  return 0;
}

Result<int> PrintAll(ApiClient& api, const std::string& kind, const json::array& list) {
  std::string text;
  for (const auto& one : list) {
    const auto whole = api.Get(DocumentsPath(kind, TextOf(one, "name")));
    if (!whole) return Fail(whole.error());
    text += (text.empty() ? "" : "---\n") + WithEnd(TextOf(*whole, "text"));
  }
  WriteCopy(stdout, text);
  return 0;
}

Result<int> Get(const Context& context, const DocumentFlags& flags) {
  const auto kind = KindOf(flags.kind);
  if (!kind) return Fail(kind.error());
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  if (!flags.diff.empty() && flags.name.empty())
    return Fail(ErrorCode::kInvalid, "--diff compares versions of one {}: give its name", *kind);
  if (!flags.diff.empty()) return PrintVersionsDiff(context, *api, *kind, flags.name, flags.diff);
  if (!flags.name.empty()) return GetOne(context, *api, *kind, flags);
  json::array list;
  const auto pages = api->Pages("/documents", {{"kind", *kind}, {"limit", "500"}}, "documents",
                                [&](const json::value& one) {
                                  list.push_back(one);
                                  return true;
                                });
  if (!pages) return Fail(pages.error());
  if (context.OutputFormat() == Format::kYaml) return PrintAll(*api, *kind, list);
  if (context.PrintDocument(json::object{{"documents", list}})) return 0;
  Table table({"NAME", "VERSION", "APPLIED", "BY"});
  for (const auto& one : list)
    table.Add({TextOf(one, "name"), std::to_string(NumberOf(one, "version")),
               Ago(ParseTime(TextOf(one, "at")), WallNow()), TextOf(one, "by")});
  return ShowList(context, table.Text(context.terminal.colour_out), CountOf(list.size(), *kind));
}

Result<int> Delete(const Context& context, const DocumentFlags& flags) {
  const auto kind = KindOf(flags.kind);
  if (!kind) return Fail(kind.error());
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  std::string path = DocumentsPath(*kind, flags.name);
  if (const auto found = Persist(context, kPatience, [&] { return api->Get(path); }); !found)
    return Fail(found.error());
  // Labels decide about hosts; docs/people.md has the rule.
  const auto agreed = Agreed(context, *api, flags.yes, documents::FindKind(*kind)->role,
                             {.act = fmt::format("Delete {} {}", *kind, flags.name)});
  if (!agreed) return Fail(agreed.error());
  if (!*agreed) return kExitInterrupted;
  if (!flags.reason.empty()) path += "?reason=" + Segment(flags.reason);
  const auto answer = Act(context, [&] { return api->Delete(path); });
  if (!answer) return Fail(answer.error());
  if (!context.PrintDocument(*answer))
    Write(stdout, OwnLine(fmt::format("{} {}  deleted", *kind, flags.name)));
  return 0;
}

}  // namespace

void AddGet(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("get", "Show documents that were applied");
  const auto flags = std::make_shared<DocumentFlags>();
  command->footer(kGetExamples);
  command->add_option("kind", flags->kind, PluralKinds())->type_name("KIND")->required();
  command->add_option("name", flags->name, "Only this one")->type_name("DOCUMENT");
  auto* version = command->add_option("--version", flags->version, "An earlier version of it")
                      ->type_name("N")
                      ->check(CLI::Range(1, 1'000'000'000));
  command
      ->add_option("--diff", flags->diff,
                   "How two versions differ; with one, how the newest differs from it")
      ->type_name("VERSION")
      ->expected(1, 2)
      ->check(CLI::Range(1, 1'000'000'000))
      ->excludes(version);
  command->callback(
      [&context, flags] { context.action = [&context, flags] { return Get(context, *flags); }; });
}

void AddDelete(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("delete", "Delete a document");
  const auto flags = std::make_shared<DocumentFlags>();
  command->footer(kDeleteExamples);
  command->add_option("kind", flags->kind, SingleKinds())->type_name("KIND")->required();
  command->add_option("name", flags->name, "Which one")->type_name("DOCUMENT")->required();
  command->add_option("--reason", flags->reason, "Reason, for the audit trail");
  command->add_flag("-y,--yes", flags->yes, "Do not ask");
  command->callback([&context, flags] {
    context.action = [&context, flags] { return Delete(context, *flags); };
  });
}

}  // namespace muster::cli
