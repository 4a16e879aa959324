#include "cli/audit/check_history.hpp"

#include <map>
#include <memory>
#include <set>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "checks/term_ledger.hpp"
#include "cli/audit/journal_files.hpp"
#include "cli/client/api_client.hpp"
#include "cli/client/page_guard.hpp"
#include "cli/client/retries.hpp"
#include "cli/terminal/times.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kCheckHistoryExamples = R"(Examples:
  muster check history                             all runs of the last day
  muster check history --since 30d -o json
  muster check history --journal web1.jsonl --journal web2.jsonl
  muster check history --since 2h --journal fleet.jsonl

Checks every attempt of every run against the commits and terms that wrote it, and against the audit
trail (with an admin's token). With journals (muster-agent --history FILE), also against the records
of the hosts. Exit code 1: something is lost, doubled, or happened before it was allowed.)";

constexpr std::size_t kMostPrinted = 50;
constexpr std::size_t kMostFound = 1000;

struct HistoryFlags {
  std::string since;
  std::string until;
  std::vector<std::string> journals;
};

std::string Amount(std::uint64_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", Count(number), number == 1 ? one : many);
}

// One check: what the answers said together, and what is seen only in all of them.
class HistoryCheck {
 public:
  HistoryCheck(const Context& context, ApiClient& api, HistoryFlags flags)
      : context_(context), api_(api), flags_(std::move(flags)), journals_(kMostFound) {}

  Result<int> Run() {
    // First of all: what a journal knows is then on record, if it ever is.
    for (const auto& path : flags_.journals)
      if (const auto read = ReadJournal(path, journals_); !read) return Fail(read.error());
    if (const auto read = ReadRuns(); !read) return Fail(read.error());
    if (!flags_.journals.empty())
      if (const auto read = LookForOtherRuns(); !read) return Fail(read.error());
    if (const auto read = ReadAudit(); !read) return Fail(read.error());
    journals_.Finish();
    for (const auto& finding : terms_.Overlaps()) Add(finding);
    for (const auto& finding : journals_.findings().list()) Add(finding);
    numbers_["more_findings"] += static_cast<std::int64_t>(journals_.findings().more());
    if (!context_.PrintDocument(Document())) Print();
    return findings_.empty() ? 0 : 1;
  }

 private:
  Result<json::value> Get(std::string_view path, const Query& query) {
    return Persist(context_, kPatience, [&] { return api_.Get(path, query); });
  }

  Result<> ReadRuns() {
    std::string cursor;
    PageGuard guard;
    while (true) {
      const auto answer = Get("/checks/history", {{"since", flags_.since},
                                                  {"until", flags_.until},
                                                  {"rows", flags_.journals.empty() ? "" : "true"},
                                                  {"cursor", cursor}});
      if (!answer) return Fail(answer.error());
      Take(*answer);
      cursor = TextOf(*answer, "next");
      if (cursor.empty()) break;
      if (auto ends = guard.Take(cursor, false); !ends) return ends;
      if (context_.terminal.stderr_tty)
        context_.Say(fmt::format("{} runs, {} attempts …", Number("runs"), Number("attempts")));
    }
    return {};
  }

  void Take(const json::value& answer) {
    if (period_.empty())
      period_ = {{"since", FieldOf(answer, "since")}, {"until", FieldOf(answer, "until")}};
    for (const auto* name : {"runs", "tasks", "attempts", "open", "more_findings"})
      numbers_[name] += NumberOf(answer, name);
    for (const auto& item : ListOf(answer, "terms"))
      terms_.Take(Term(static_cast<std::uint64_t>(NumberOf(item, "term"))),
                  {.first = CommitNumber(static_cast<std::uint64_t>(NumberOf(item, "first"))),
                   .last = CommitNumber(static_cast<std::uint64_t>(NumberOf(item, "last"))),
                   .first_of = TextOf(item, "first_of"),
                   .last_of = TextOf(item, "last_of")});
    // Terms are compared over all answers, at the end.
    for (const auto& finding : ListOf(answer, "findings"))
      if (TextOf(finding, "kind") != "terms") findings_.push_back(finding);
    for (const auto& item : ListOf(answer, "rows")) {
      const checks::JournalRow row = JournalRowOf(item);
      journals_.Take(row);
      journals_.RunRead(row.key.run);
    }
  }

  // Runs that a host worked for and that came with no row: they are not there, or lost all of them,
  // or were made before the period.
  Result<> LookForOtherRuns() {
    const WallTime since = ParseTime(TextOf(period_, "since"));
    const WallTime until = ParseTime(TextOf(period_, "until"));
    for (const RunId run : journals_.Unread(since, until)) {
      const auto found = Get("/runs/" + FormatRunId(run), {});
      if (!found && found.error().code != ErrorCode::kNotFound) return Fail(found.error());
      const WallTime created = found ? ParseTime(TextOf(*found, "created")) : since;
      if (created >= since && created < until) journals_.RunRead(run);
    }
    return {};
  }

  Result<> ReadAudit() {
    Query query;
    PageGuard guard;
    while (true) {
      const auto answer = Get("/audit/verify", query);
      if (!answer && answer.error().code == ErrorCode::kDenied) return {};
      if (!answer) return Fail(answer.error());
      audited_ = true;
      numbers_["audit_entries"] += NumberOf(*answer, "checked");
      if (const auto& bad = FieldOf(*answer, "bad"); bad.is_object())
        Add({.kind = checks::Finding::Kind::kLost,
             .task = {},
             .text = fmt::format("the audit trail is broken at entry {}: {}",
                                 NumberOf(bad, "number"), TextOf(bad, "why"))});
      const auto next = NumberOf(*answer, "next");
      if (next == 0) return {};
      if (auto ends = guard.Take(std::to_string(next), false); !ends) return ends;
      query = {{"after", std::to_string(next)}, {"hash", TextOf(*answer, "head")}};
    }
  }

  void Add(const checks::Finding& finding) {
    const TaskKey& task = finding.task;
    findings_.push_back(
        json::object{{"kind", checks::Name(finding.kind)},
                     {"run", task.run ? json::value(FormatRunId(task.run)) : json::value(nullptr)},
                     {"visit", task.visit.value},
                     {"host", ""},
                     {"attempt", task.attempt.value},
                     {"text", finding.text}});
  }

  json::object Document() {
    json::object document = period_;
    for (const auto* name : {"runs", "tasks", "attempts", "open"}) document[name] = numbers_[name];
    document["terms"] = terms_.terms().size();
    document["last_commit"] = terms_.Last().value;
    document["audit_entries"] =
        audited_ ? json::value(numbers_["audit_entries"]) : json::value(nullptr);
    document["journals"] = json::object{{"files", flags_.journals.size()},
                                        {"hosts", journals_.nodes()},
                                        {"lines", journals_.lines()},
                                        {"starts", journals_.starts()},
                                        {"refused", journals_.refusals()}};
    document["findings"] = findings_;
    document["more_findings"] = numbers_["more_findings"];
    return document;
  }

  void Print() {
    std::string text = fmt::format("{}, {} to {}\n", Amount(Number("runs"), "run", "runs"),
                                   context_.times.Text(TextOf(period_, "since")),
                                   context_.times.Text(TextOf(period_, "until")));
    const auto line = [&](std::string_view name, std::uint64_t number, const std::string& note) {
      text +=
          fmt::format("  {:<9} {:>12}{}{}\n", name, Count(number), note.empty() ? "" : "  ", note);
    };
    line("tasks", Number("tasks"), "");
    line("attempts", Number("attempts"),
         Number("open") > 0 ? Count(Number("open")) + " not over yet" : "");
    line("terms", terms_.terms().size(),
         terms_.Last() ? fmt::format("commits up to {}", terms_.Last().value) : "");
    if (audited_) line("audit", Number("audit_entries"), "entries of the trail");
    if (!flags_.journals.empty())
      line("journals", flags_.journals.size(),
           fmt::format("{}: {}, {}, {} refused", Amount(journals_.nodes(), "host", "hosts"),
                       Amount(journals_.lines(), "line", "lines"),
                       Amount(journals_.starts(), "start", "starts"), Count(journals_.refusals())));
    Write(stdout, text);
    PrintFindings();
  }

  void PrintFindings() {
    for (std::size_t i = 0; i < findings_.size() && i < kMostPrinted; ++i)
      Write(stdout,
            fmt::format("{}: {}\n", LineOf(findings_[i], "kind"), LineOf(findings_[i], "text")));
    if (!audited_) context_.Say("the audit trail was not looked at: that takes an admin's token");
    const std::uint64_t wrong = findings_.size() + Number("more_findings");
    if (wrong == 0) return context_.Say("nothing is lost, nothing doubled");
    if (wrong > kMostPrinted)
      context_.Say(fmt::format("and {} more; -o json has those that were kept",
                               Count(wrong - kMostPrinted)));
    context_.Say(Amount(wrong, "finding", "findings"));
  }

  std::uint64_t Number(const std::string& name) {
    return static_cast<std::uint64_t>(numbers_[name]);
  }

  const Context& context_;
  ApiClient& api_;
  HistoryFlags flags_;
  json::object period_;
  std::map<std::string, std::int64_t> numbers_;
  checks::TermLedger terms_;
  checks::JournalChecker journals_;
  json::array findings_;
  bool audited_ = false;
};

Result<int> CheckHistory(const Context& context, HistoryFlags flags) {
  // The period is the same for every page.
  const auto since = Moment("--since", flags.since.empty() ? "24h" : flags.since);
  if (!since) return Fail(since.error());
  const auto until = Moment("--until", flags.until.empty() ? "0s" : flags.until);
  if (!until) return Fail(until.error());
  flags.since = *since;
  flags.until = *until;
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  return HistoryCheck(context, *api, std::move(flags)).Run();
}

}  // namespace

void AddCheckHistory(CLI::App& check, Context& context) {
  auto* history = check.add_subcommand(
      "history", "Check that no attempt of a run is lost, doubled or out of order");
  const auto flags = std::make_shared<HistoryFlags>();
  history->footer(kCheckHistoryExamples);
  history
      ->add_option("--since", flags->since,
                   "Runs made at or after: a time, or how long ago (default: 24h)")
      ->type_name("TIME");
  history->add_option("--until", flags->until, "Runs made before (default: now)")
      ->type_name("TIME");
  history
      ->add_option("--journal", flags->journals,
                   "History file of a host (muster-agent --history); may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(true);
  history->callback([&context, flags] {
    context.action = [&context, flags] { return CheckHistory(context, *flags); };
  });
}

}  // namespace muster::cli
