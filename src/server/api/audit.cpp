#include <charconv>

#include <boost/json.hpp>

#include "base/text.hpp"
#include "domain/audit_facts.hpp"
#include "domain/no_such_run.hpp"
#include "server/api/former_hosts.hpp"
#include "server/api/routes.hpp"
#include "server/api/views.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kVerifySlice = 1000;      // entries of one read
constexpr std::size_t kVerifyAtOnce = 100'000;  // entries of one call
constexpr std::uint64_t kMostNumber = INT64_MAX;

// Words from outside may be anything; JSON may not.
std::string Readable(const std::string& text) { return IsUtf8(text) ? text : "(not text)"; }

// What the entry says for programs; an object without parts when it says nothing.
json::object FactsView(std::string_view facts) {
  boost::system::error_code problem;
  json::value value = json::parse(facts.empty() ? "{}" : facts, problem);
  return !problem && value.is_object() ? std::move(value.get_object()) : json::object();
}

json::object EntryView(const AuditEntry& entry) {
  json::value run = nullptr;
  if (entry.run) run = FormatRunId(entry.run);
  const auto [sentence, facts] = SplitDetail(entry.detail);
  return {{"number", entry.number},
          {"at", TimeView(entry.at)},
          {"actor", Readable(entry.actor)},
          {"address", Readable(entry.address)},
          {"client", Readable(entry.client)},
          {"act", Readable(entry.act)},
          {"object", Readable(entry.object)},
          {"detail", Readable(std::string(sentence))},
          {"facts", FactsView(facts)},
          {"reason", Readable(entry.reason)},
          {"run", std::move(run)},
          {"hosts", entry.hosts},
          {"names", Readable(entry.names)},
          {"command", Readable(entry.command)},
          {"command_sha256", ToHex(entry.command_sha256)},
          {"previous", ToHex(entry.previous)},
          {"hash", ToHex(entry.hash)}};
}

// A run that is on record, or is not any more but left entries behind.
Result<> CheckRun(Store& store, RunId id) {
  const auto run = store.FindRun(id);
  if (!run) return Fail(run.error());
  if (run->value) return {};
  AuditFilter filter;
  filter.run = id;
  const auto page = store.ListAudit(filter, 0, 1);
  if (!page) return Fail(page.error());
  if (page->entries.empty() && page->next == 0) return Fail(NoSuchRun(id));
  return {};
}

Result<AuditFilter> ReadAuditFilter(Services& services, const Call& call) {
  AuditFilter filter;
  filter.by = call.Query("by");
  filter.act = call.Query("act");
  if (!filter.act.empty())
    if (const auto known = CheckAct(filter.act); !known) return Fail(known.error());
  if (const auto& run = call.Query("run"); !run.empty()) {
    const auto id = ParseRunId(run);
    if (!id) return Fail(id.error());
    filter.run = *id;
    if (const auto known = CheckRun(services.store, *id); !known) return Fail(known.error());
  }
  for (const auto& [name, field] :
       {std::pair("since", &filter.since), std::pair("until", &filter.until)}) {
    if (call.Query(name).empty()) continue;
    *field = ParseTime(call.Query(name));
    if (!*field)
      return Fail(ErrorCode::kInvalid, "{}: expected a time like 2026-11-15T10:43:19Z", name);
  }
  const auto after = call.QueryNumber("after", 0, 0, kMostNumber);
  if (!after) return Fail(after.error());
  filter.after = *after;
  return filter;
}

void ListAudit(Services& services, const CallPtr& call) {
  const auto filter = ReadAuditFilter(services, *call);
  if (!filter) return call->Fail(filter.error());
  const auto limit = call->QueryNumber("limit", 50, 1, 500);
  if (!limit) return call->Fail(limit.error());
  const auto before = call->QueryNumber("before", 0, 0, kMostNumber);
  if (!before) return call->Fail(before.error());
  const auto hosts = HostsAsked(services, *call);
  if (!hosts) return call->Fail(hosts.error());
  const auto page =
      ListAuditOf(services.store, *hosts, *filter, *before, *limit, [&] { return call->GoesOn(); });
  if (!page) return call->Fail(page.error());
  json::array list;
  for (const auto& entry : page->entries) list.push_back(EntryView(entry));
  json::value next = nullptr;
  if (page->next != 0) next = page->next;
  call->Json(200, {{"entries", std::move(list)}, {"next", std::move(next)}});
}

// The entry with what was executed in full, while the run that holds it is kept.
void ShowAudit(Services& services, const CallPtr& call) {
  const std::string& text = call->Part("number");
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool fits = problem == std::errc{} && end == text.data() + text.size();
  const auto entries = services.store.ReadAudit(number, 1);
  if (!entries) return call->Fail(entries.error());
  if (!fits || entries->empty() || entries->front().number != number)
    return call->Fail(404, "not_found", "there is no such entry; see 'muster audit'");
  const AuditEntry& entry = entries->front();
  json::object view = EntryView(entry);
  view["spec"] = nullptr;
  if (entry.run && !entry.command_sha256.empty()) {
    const auto run = services.store.FindRun(entry.run);
    if (!run) return call->Fail(run.error());
    // What the run holds now is shown only if it is what was audited then.
    const Command* command = run->value && !run->value->spec.stages.empty()
                                 ? CommandOf(run->value->spec.stages.front())
                                 : nullptr;
    if (command != nullptr && CommandHash(*command) == entry.command_sha256)
      view["spec"] = SpecView(run->value->spec);
  }
  call->Json(200, view);
}

Result<AuditWalk> ReadStart(const Call& call) {
  const auto after = call.QueryNumber("after", 0, 0, kMostNumber);
  if (!after) return Fail(after.error());
  if (*after == 0) return AuditWalk();
  const auto hash = FromHex(call.Query("hash"));
  if (!hash || hash->empty())
    return Fail(ErrorCode::kInvalid, "hash: expected the 'head' of the answer before, in hex");
  return AuditWalk(AuditHead{*after, *hash});
}

// The head is read first: entries made meanwhile lie behind it.
void VerifyAudit(Services& services, const CallPtr& call) {
  auto walk = ReadStart(*call);
  if (!walk) return call->Fail(walk.error());
  const auto head = services.store.ReadAuditHead();
  if (!head) return call->Fail(head.error());
  std::size_t checked = 0;
  bool ended = false;
  while (walk->bad() == 0 && !ended && checked < kVerifyAtOnce) {
    const auto slice = services.store.ReadAudit(walk->last().number + 1, kVerifySlice);
    if (!slice) return call->Fail(slice.error());
    for (const auto& entry : *slice) {
      if (entry.number > head->number) break;
      if (!walk->Take(entry)) break;
      ++checked;
    }
    ended = slice->size() < kVerifySlice || slice->back().number >= head->number;
  }
  if (ended && walk->Reaches(*head)) {
    const auto behind = services.store.ReadAudit(head->number + 1, 1);
    if (!behind) return call->Fail(behind.error());
    const auto head_now = services.store.ReadAuditHead();
    if (!head_now) return call->Fail(head_now.error());
    walk->EndsWith(behind->empty() ? nullptr : &behind->front(), *head_now);
  }
  json::value bad = nullptr;
  if (walk->bad() != 0) bad = json::object{{"number", walk->bad()}, {"why", walk->why()}};
  json::value next = nullptr;
  if (!ended && walk->bad() == 0) next = walk->last().number;
  call->Json(200, {{"ok", walk->bad() == 0},
                   {"checked", checked},
                   {"last", walk->last().number},
                   {"head", ToHex(walk->last().hash)},
                   {"bad", std::move(bad)},
                   {"next", std::move(next)}});
}

}  // namespace

std::vector<Route> AuditRoutes(Services& services) {
  return {
      {"GET", "/api/v1/audit", Privilege::kAdmin,
       [&services](const CallPtr& call) { ListAudit(services, call); }},
      {"GET", "/api/v1/audit/verify", Privilege::kAdmin,
       [&services](const CallPtr& call) { VerifyAudit(services, call); }, kOnRecord},
      {"GET", "/api/v1/audit/{number}", Privilege::kAdmin,
       [&services](const CallPtr& call) { ShowAudit(services, call); }, kOnRecord},
  };
}

}  // namespace muster::server::api
