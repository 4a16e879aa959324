#include <algorithm>
#include <thread>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/audit/audit_text.hpp"
#include "cli/client/api_client.hpp"
#include "cli/client/page_guard.hpp"
#include "cli/client/retries.hpp"
#include "cli/context.hpp"
#include "cli/terminal/list.hpp"
#include "cli/terminal/times.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr auto kPoll = std::chrono::seconds(1);
constexpr std::uint64_t kMostPage = 500;

constexpr const char* kAuditExamples = R"(Examples:
  muster audit                                     the last 20 acts, the newest at the bottom
  muster audit --host db7 --since 2027-03-02T14:00:00Z --until 2027-03-02T14:05:00Z
  muster audit --by alice --act run.start -n 100
  muster audit --run r97                           all acts about one run
  muster audit -f -o jsonl                         acts as they happen, one line of JSON each
  muster audit show 812                            one act with its whole script
  muster audit verify                              is the chain of entries unbroken?)";

struct AuditFlags {
  std::string host;
  std::string by;
  std::string act;
  std::string run;
  std::string since;
  std::string until;
  std::uint64_t count = 20;
  bool follow = false;
};

void Print(const Context& context, const json::value& entry, bool whole) {
  if (context.OutputFormat() == Format::kJsonl) return WriteCopy(stdout, JsonLine(entry));
  Write(stdout, AuditEntryText(entry, whole, context.times));
}

// The newest entries of a query, at most `most`, oldest of them first.
Result<std::vector<json::value>> Newest(const Context& context, ApiClient& api, Query query,
                                        std::uint64_t most, Duration patience = kPatience) {
  std::vector<json::value> entries;
  query.emplace_back("limit", std::to_string(std::clamp<std::uint64_t>(most, 1, kMostPage)));
  query.emplace_back("before", "");
  PageGuard guard;
  while (entries.size() < most) {
    const auto page = Persist(context, patience, [&] { return api.Get("/audit", query); });
    if (!page) return Fail(page.error());
    for (const auto& entry : ListOf(*page, "entries"))
      if (entries.size() < most) entries.push_back(entry);
    const auto next = NumberOf(*page, "next");
    if (next == 0) break;
    const bool empty = ListOf(*page, "entries").empty();
    if (auto ends = guard.Take(std::to_string(next), empty); !ends) return Fail(ends.error());
    query.back().second = std::to_string(next);
  }
  std::ranges::reverse(entries);
  return entries;
}

Result<Query> QueryOf(const AuditFlags& flags) {
  const auto since = Moment("--since", flags.since);
  if (!since) return Fail(since.error());
  const auto until = Moment("--until", flags.until);
  if (!until) return Fail(until.error());
  return Query{{"host", flags.host}, {"by", flags.by},  {"act", flags.act},
               {"run", flags.run},   {"since", *since}, {"until", *until}};
}

bool IsAway(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTimeout;
}

// Entries as they come, until the program is ended; a server that is away is waited for.
Result<int> Follow(const Context& context, ApiClient& api, const Query& query, std::int64_t seen) {
  bool away = false;
  while (true) {
    std::this_thread::sleep_for(kPoll);
    Query newer = query;
    newer.emplace_back("after", std::to_string(seen));
    const auto entries = Newest(context, api, newer, UINT64_MAX, Duration(0));
    if (!entries && !IsAway(entries.error())) return Fail(entries.error());
    if (!entries && !away)
      context.Say(fmt::format("connection lost, trying again ({})", entries.error().message));
    if (entries && away) context.Say("connected again");
    away = !entries;
    if (away) continue;
    for (const auto& entry : *entries) {
      Print(context, entry, false);
      seen = NumberOf(entry, "number");
    }
    std::fflush(stdout);
  }
}

int ShowEntries(const Context& context, const std::vector<json::value>& entries) {
  std::string text;
  for (const auto& entry : entries) text += AuditEntryText(entry, false, context.times);
  if (entries.empty()) context.Say("no entries");
  return ShowList(context, text);
}

Result<int> Audit(const Context& context, const AuditFlags& flags) {
  const auto query = QueryOf(flags);
  if (!query) return Fail(query.error());
  const auto format = context.OutputFormat();
  if (flags.follow && (format == Format::kJson || format == Format::kYaml))
    return Fail(ErrorCode::kInvalid, "-f has no end, so it makes no document: use -o jsonl");
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  std::int64_t seen = 0;
  if (flags.follow) {
    // Whatever comes after this look is followed, whether it fits the filter or not.
    const auto last = Newest(context, *api, {}, 1);
    if (!last) return Fail(last.error());
    if (!last->empty()) seen = NumberOf(last->front(), "number");
  }
  auto entries = Newest(context, *api, *query, flags.count);
  if (!entries) return Fail(entries.error());
  if (format == Format::kJson || format == Format::kYaml) {
    context.PrintDocument(json::object{{"entries", json::array(entries->begin(), entries->end())}});
    return 0;
  }
  if (!flags.follow && format == Format::kTable) return ShowEntries(context, *entries);
  for (const auto& entry : *entries) {
    Print(context, entry, false);
    seen = std::max(seen, NumberOf(entry, "number"));
  }
  std::fflush(stdout);
  return flags.follow ? Follow(context, *api, *query, seen) : 0;
}

Result<int> Show(const Context& context, std::uint64_t number) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto entry = api->Get(fmt::format("/audit/{}", number));
  if (!entry) return Fail(entry.error());
  if (context.OutputFormat() == Format::kJsonl || !context.PrintDocument(*entry))
    Print(context, *entry, true);
  return 0;
}

Result<int> Verify(const Context& context) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  std::int64_t checked = 0;
  Query query;
  PageGuard guard;
  while (true) {
    auto answer = Persist(context, kPatience, [&] { return api->Get("/audit/verify", query); });
    if (!answer) return Fail(answer.error());
    checked += NumberOf(*answer, "checked");
    const auto next = NumberOf(*answer, "next");
    if (next != 0) {
      if (auto ends = guard.Take(std::to_string(next), false); !ends) return Fail(ends.error());
      query = {{"after", std::to_string(next)}, {"hash", TextOf(*answer, "head")}};
      continue;
    }
    answer->get_object()["checked"] = checked;
    const bool ok = FlagOf(*answer, "ok");
    if (context.PrintDocument(*answer)) return ok ? 0 : 1;
    if (!ok) {
      const auto& bad = FieldOf(*answer, "bad");
      WriteMessage(fmt::format("muster: the audit trail is broken at entry {}: {}\n",
                               NumberOf(bad, "number"), LineOf(bad, "why")));
      return 1;
    }
    Write(stdout, fmt::format("{} entries, unbroken up to number {}\nhead {}\n", checked,
                              NumberOf(*answer, "last"), LineOf(*answer, "head")));
    return 0;
  }
}

}  // namespace

void AddAudit(CLI::App& app, Context& context) {
  auto* audit = app.add_subcommand("audit", "Show who did what, where, when and why");
  const auto flags = std::make_shared<AuditFlags>();
  audit->footer(kAuditExamples);
  audit->add_option("--host", flags->host, "Only acts on this host")->type_name("HOST");
  audit->add_option("--by", flags->by, "Only acts of this token")->type_name("NAME");
  audit->add_option("--act", flags->act, "Only this act: run.start, run.stop, token.create, …")
      ->type_name("ACT");
  audit->add_option("--run", flags->run, "Only acts about this run")->type_name("RUN");
  audit->add_option("--since", flags->since, "Only later ones: a time, or how long ago")
      ->type_name("TIME");
  audit->add_option("--until", flags->until, "Only earlier ones: a time, or how long ago")
      ->type_name("TIME");
  audit->add_option("-n,--limit", flags->count, "At most N, the newest")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  audit->add_flag("-f,--follow", flags->follow, "Go on with acts as they happen");
  audit->require_subcommand(0, 1);
  audit->callback([&context, audit, flags] {
    if (!audit->get_subcommands().empty()) return;
    context.action = [&context, flags] { return Audit(context, *flags); };
  });

  auto* show = audit->add_subcommand("show", "Show one entry with its whole script");
  show->footer(kAuditExamples);
  const auto number = std::make_shared<std::uint64_t>(0);
  show->add_option("number", *number, "Which entry")->type_name("NUMBER")->required();
  show->callback([&context, number] {
    context.action = [&context, number] { return Show(context, *number); };
  });
  auto* verify = audit->add_subcommand("verify", "Check that no entry was changed or removed");
  verify->footer(kAuditExamples);
  verify->callback([&context] { context.action = [&context] { return Verify(context); }; });
}

}  // namespace muster::cli
