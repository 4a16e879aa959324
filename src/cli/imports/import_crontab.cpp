#include <map>
#include <memory>
#include <set>
#include <span>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/imports/crontab_collect.hpp"
#include "cli/imports/import_command.hpp"
#include "cli/imports/import_file.hpp"
#include "cli/imports/import_output.hpp"
#include "cron/zone.hpp"
#include "domain/host.hpp"
#include "domain/targets.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kImportCrontabExamples = R"(Examples:
  muster import crontab --from-hosts -t 'web*' --into crontabs    of a fleet: equal lines fold
  muster import crontab --from-hosts -t all --apply --dry-run     would the server take them?
  muster import crontab deploy.cron --user deploy --host web1 --tz Europe/Berlin
  muster import crontab /etc/cron.d/* --system -t app=web         their lines name their users
  crontab -l | muster import crontab - --user "$USER" --host web1
  muster import crontab /etc/crontab --host web1 -o json          documents and report, for programs

Each line becomes a job and a trigger that begins paused. The report says what was not carried over
and why, and for each line the command that comments out the old entry; nothing is changed on the
hosts. Then: apply the documents, comment out the old entry, resume the trigger. With --apply a
trigger that is there gets further hosts and keeps its own; other changes need --force.)";

struct CrontabFlags {
  std::vector<std::string> files;
  std::string user;
  bool system = false;
  std::string host;
  std::string tz;
  bool from_hosts = false;
  std::string as = "root";
  std::string root;
  RunOptions run;
  StartOptions start;
  ImportFlags import;
};

struct Crontabs {
  std::vector<imports::CrontabFile> files;
  std::vector<imports::CrontabNote> notes;
  int code = 0;
  bool ended = false;
};

Result<> CheckFlags(const CrontabFlags& flags) {
  if (auto good = CheckImportFlags(flags.import); !good) return good;
  if (!flags.tz.empty())
    if (const auto zone = cron::LoadZone(flags.tz); !zone) return Fail(zone.error());
  if (flags.from_hosts) {
    if (!flags.files.empty() || !flags.user.empty() || flags.system || !flags.host.empty())
      return Fail(ErrorCode::kInvalid,
                  "--from-hosts goes with -t and without files, --user, --system and --host");
    if (flags.run.targets.empty())
      return Fail(ErrorCode::kInvalid,
                  "--from-hosts needs -t: from which hosts; for example -t 'web*'");
    return {};
  }
  if (flags.files.empty())
    return Fail(ErrorCode::kInvalid,
                "expected crontabs, or --from-hosts; for example: muster import crontab "
                "--from-hosts -t 'web*'");
  if (!flags.user.empty() && flags.system)
    return Fail(ErrorCode::kInvalid,
                "--user is whose crontab it is, --system is one whose lines "
                "name their users: say one of them");
  if (!flags.host.empty() && !flags.run.targets.empty())
    return Fail(ErrorCode::kInvalid, "--host and -t both say the hosts: say one of them");
  if (!flags.host.empty()) return CheckHostName(flags.host);
  if (!flags.run.targets.empty())
    if (const auto parsed = TargetExpression::Parse(flags.run.targets); !parsed)
      return Fail(parsed.error());
  return {};
}

// Where cron keeps a file says whose it is.
Result<std::string> UserOf(const CrontabFlags& flags, const std::string& path) {
  if (!flags.user.empty() || flags.system) return flags.user;
  if (path == "/etc/crontab" || path.starts_with("/etc/cron.d/")) return std::string();
  if (path.starts_with("/var/spool/cron/")) return path.substr(path.rfind('/') + 1);
  return Fail(ErrorCode::kInvalid,
              "'{}': say whose crontab it is (--user NAME), or that its lines name their users, as "
              "in /etc/cron.d (--system)",
              path);
}

// A copy of a crontab has its place on the host all the same.
std::string PlaceOf(const std::string& path, const std::string& user) {
  if (path.starts_with("/etc/") || path.starts_with("/var/spool/cron/")) return path;
  if (!user.empty()) return "/var/spool/cron/crontabs/" + user;
  const std::string name = path.substr(path.rfind('/') + 1);
  return path == "-" || name == "crontab" ? "/etc/crontab" : "/etc/cron.d/" + name;
}

Result<Crontabs> ReadFiles(const CrontabFlags& flags) {
  Crontabs all;
  for (const auto& path : flags.files) {
    auto user = UserOf(flags, path);
    if (!user && path == "-") return Fail(user.error());  // before it waits for somebody to type
    auto source = ReadImportFile(path, imports::kMostCrontabBytes);
    if (!source) return Fail(source.error());
    if (!user) return Fail(user.error());
    all.files.push_back({.host = flags.host,
                         .path = path,
                         .there = PlaceOf(path, *user),
                         .text = std::move(source->text),
                         .user = std::move(*user),
                         .tz = flags.tz});
  }
  return all;
}

Result<Crontabs> Collect(const Context& context, const CrontabFlags& flags) {
  RunOptions options = flags.run;
  options.user = flags.as;
  options.script_file = "crontabs";
  options.interpreter = "/bin/sh";
  options.max_output = "16MB";
  options.timeout = "5m";
  options.title = "collect crontabs";
  options.reason = flags.import.reason;
  auto collected = CollectCrontabs(context, options, flags.start, flags.root);
  if (!collected) return Fail(collected.error());
  if (!flags.tz.empty())
    for (auto& file : collected->files) file.tz = flags.tz;
  return Crontabs{std::move(collected->files), std::move(collected->notes), collected->code,
                  collected->ended};
}

json::object ViewOf(const imports::CrontabTrigger& trigger) {
  json::array places;
  for (const auto& place : trigger.places)
    places.push_back({{"host", place.host},
                      {"file", place.path},
                      {"line", place.at.line},
                      {"text", place.line},
                      {"comment_out", imports::CommentOut(place)}});
  json::array hosts;
  for (const auto& host : trigger.hosts) hosts.emplace_back(host);
  return {{"name", trigger.name},
          {"cron", trigger.cron},
          {"tz", trigger.tz},
          {"user", trigger.user},
          {"hosts", hosts},
          {"places", std::move(places)},
          {"text", imports::DocumentsOf(trigger)},
          {"runs", trigger.runs}};
}

json::object ViewOf(const imports::CrontabImport& import) {
  json::array triggers;
  for (const auto& trigger : import.triggers) triggers.push_back(ViewOf(trigger));
  json::array notes;
  for (const auto& note : import.notes)
    notes.push_back({{"carried", imports::Name(note.carried)},
                     {"host", note.place.host},
                     {"file", note.place.path},
                     {"line", note.place.at.line},
                     {"column", note.place.at.column},
                     {"message", note.sentence},
                     {"times", note.times}});
  return {{"lines", import.lines},
          {"hosts", import.hosts},
          {"triggers", std::move(triggers)},
          {"notes", std::move(notes)}};
}

std::string NextSteps(const CrontabFlags& flags, const imports::CrontabImport& import) {
  if (import.triggers.empty()) return "";
  std::string text;
  const bool nowhere = !flags.from_hosts && flags.host.empty() && flags.run.targets.empty();
  if (nowhere) text += "the triggers name no hosts yet: import with --host or -t\n";
  if (!flags.from_hosts && flags.tz.empty())
    text += "times are taken as UTC: say the hosts' time zone with --tz\n";
  text += "next:\n";
  if (!flags.import.apply || flags.import.dry_run)
    text += fmt::format("  muster apply -f {}\n",
                        flags.import.folder.empty() ? "FILE" : flags.import.folder);
  return text + fmt::format(
                    "  the sed line of each entry, on its hosts\n"
                    "  muster triggers resume {}\n",
                    import.triggers.size() == 1 ? import.triggers.front().name : "NAME");
}

void Print(const Context& context, const CrontabFlags& flags,
           const imports::CrontabImport& import) {
  if (context.PrintDocument(ViewOf(import))) return;
  std::string documents;
  for (const auto& trigger : import.triggers)
    documents += (documents.empty() ? "" : "---\n") + imports::DocumentsOf(trigger);
  if (flags.import.folder.empty() && !flags.import.apply) WriteCopy(stdout, documents);
  auto report = imports::ReportOf(import) + NextSteps(flags, import);
  report.pop_back();
  context.SayLines(report);
}

// Triggers that the server has already keep their hosts, and whatever was changed in them by hand.
// Gives those that only get further hosts.
Result<std::set<std::string>> JoinKept(const Context& context, bool force,
                                       std::span<imports::CrontabTrigger> triggers) {
  std::set<std::string> joined;
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  std::map<std::string, std::string> states;
  const auto pages =
      api->Pages("/triggers", {{"limit", "1000"}}, "triggers", [&](const json::value& trigger) {
        states[TextOf(trigger, "name")] = TextOf(trigger, "state");
        return true;
      });
  if (!pages) return Fail(pages.error());
  for (auto& trigger : triggers) {
    const auto state = states.find(trigger.name);
    if (state == states.end()) continue;
    trigger.runs = state->second != "paused";
    const auto kept = api->Get("/documents/trigger/" + Segment(trigger.name));
    if (!kept) return Fail(kept.error());
    const auto text = TextOf(*kept, "text");
    if (auto both = imports::JoinTargets(text, trigger.trigger_text)) {
      trigger.trigger_text = std::move(*both);
      joined.insert("trigger " + trigger.name);
    } else if (force) {
      trigger.trigger_text = imports::ReplaceButTargets(text, trigger.trigger_text);
    }
  }
  return joined;
}

Result<int> ImportCrontab(const Context& context, const CrontabFlags& flags) {
  if (auto good = CheckFlags(flags); !good) return Fail(good.error());
  auto crontabs = flags.from_hosts ? Collect(context, flags) : ReadFiles(flags);
  if (!crontabs) return Fail(crontabs.error());
  if (crontabs->ended) return crontabs->code;
  auto import = imports::ReadCrontabs(
      crontabs->files,
      {.targets = flags.run.targets,
       .knows_zone = [](const std::string& zone) { return cron::LoadZone(zone).has_value(); }},
      std::move(crontabs->notes));
  Result<std::set<std::string>> joined;
  if (flags.import.apply) joined = JoinKept(context, flags.import.force, import.triggers);
  if (!joined) return Fail(joined.error());
  std::vector<ImportedText> texts;
  for (const auto& trigger : import.triggers)
    texts.push_back({trigger.name, imports::DocumentsOf(trigger)});
  if (auto written = WriteImported(flags.import, texts); !written) return Fail(written.error());
  Print(context, flags, import);
  if (!flags.import.apply || texts.empty()) return crontabs->code;
  const auto applied = ApplyImported(context, flags.import, texts, *joined);
  if (!applied || *applied != 0) return applied;
  return crontabs->code;
}

}  // namespace

void AddImportCrontab(CLI::App& import, Context& context) {
  auto* command = import.add_subcommand(
      "crontab", "Turn crontabs, of files or of the fleet, into jobs and paused triggers");
  const auto flags = std::make_shared<CrontabFlags>();
  command->footer(kImportCrontabExamples);
  command->add_option("files", flags->files, "Crontabs; - is stdin")->type_name("FILE");
  command->add_option("--user", flags->user, "Whose crontabs the files are")->type_name("USER");
  command->add_flag("--system", flags->system, "Their lines name their users, as in /etc/cron.d");
  command->add_option("--host", flags->host, "The host the files are of")->type_name("HOST");
  command
      ->add_option("-t,--target,--targets", flags->run.targets,
                   "Where the files' triggers run, or the hosts of --from-hosts")
      ->type_name("EXPR");
  command
      ->add_option("--tz", flags->tz,
                   "Time zone of the hosts (default: UTC; of --from-hosts: "
                   "what each host says)")
      ->type_name("ZONE");
  command->add_flag("--from-hosts", flags->from_hosts, "Read the crontabs of the hosts of -t");
  command->add_option("--as", flags->as, "With --from-hosts: who reads them there")
      ->type_name("USER")
      ->capture_default_str();
  command
      ->add_option("--root", flags->root, "With --from-hosts: where their files begin (default: /)")
      ->type_name("DIR");
  command->add_flag("-y,--yes", flags->start.yes, "Do not ask");
  AddImportFlags(*command, flags->import, "trigger");
  command->callback([&context, flags] {
    context.action = [&context, flags] { return ImportCrontab(context, *flags); };
  });
}

}  // namespace muster::cli
