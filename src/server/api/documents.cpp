#include "documents/documents.hpp"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "server/api/apply_request.hpp"
#include "server/api/caller.hpp"
#include "server/api/heads_page.hpp"
#include "server/api/routes.hpp"
#include "server/api/run_request.hpp"
#include "server/api/views.hpp"
#include "server/api/warnings_view.hpp"
#include "server/planning/apply_check.hpp"
#include "server/planning/apply_command.hpp"
#include "server/planning/apply_warnings.hpp"
#include "server/planning/known_names.hpp"

// Documents that people keep in files: applied, shown, deleted.
namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostProblemBytes = 128 << 10;  // clients take 1 MiB of an error

std::string_view Name(engine::DocumentFate fate) {
  switch (fate) {
    case engine::DocumentFate::kCreated:
      return "created";
    case engine::DocumentFate::kChanged:
      return "changed";
    case engine::DocumentFate::kUnchanged:
      return "unchanged";
    case engine::DocumentFate::kDeleted:
      return "deleted";
    case engine::DocumentFate::kMissing:
      return "missing";
  }
  return "";
}

json::object FatesView(const engine::DocumentsApplied& applied, bool dry_run,
                       const std::vector<std::string>& warnings = {}) {
  json::array list;
  for (const auto& one : applied.documents)
    list.push_back({{"kind", one.kind},
                    {"name", one.name},
                    {"version", one.version},
                    {"result", Name(one.fate)}});
  json::object view{{"documents", std::move(list)}, {"dry_run", dry_run}};
  AddWarnings(view, warnings);
  return view;
}

void FailProblems(Call& call, std::vector<documents::Problem> problems) {
  std::ranges::stable_sort(problems, [](const auto& a, const auto& b) {
    return std::tie(a.file, a.position) < std::tie(b.file, b.position);
  });
  json::array details;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < problems.size() && bytes <= kMostProblemBytes; ++i) {
    const auto& problem = problems[i];
    bytes += 100 + problem.file.size() + problem.sentence.size();
    details.push_back({{"file", problem.file},
                       {"line", problem.position.line},
                       {"column", problem.position.column},
                       {"message", bytes <= kMostProblemBytes
                                       ? problem.sentence
                                       : fmt::format("and {} more", problems.size() - i)}});
  }
  const std::string more =
      problems.size() > 1 ? fmt::format(" (and {} more)", problems.size() - 1) : "";
  call.FailWith(422, "invalid_documents", documents::Written(problems.front()) + more,
                std::move(details));
}

void FailMayNot(Call& call, const documents::KindRow& row) {
  call.Fail(403, "denied",
            fmt::format("{}, so documents of 'kind: {}' are too", row.why_role, row.name));
}

void Apply(Services& services, const CallPtr& call) {
  const auto body = call->Body();
  if (!body) return call->Fail(body.error());
  const auto request = ReadApplyRequest(*body);
  if (!request) return call->Fail(request.error());
  auto reading = ReadFiles(*request, services.artifacts);
  Result<std::set<DocumentKey>> drops = std::set<DocumentKey>{};
  if (request->prune) drops = ToPrune(services.store, reading.documents);
  if (!drops) return call->Fail(drops.error());
  // Those of broken documents would only be about what is missing because of it.
  if (reading.problems.empty()) {
    auto more = CheckReferences(services.store, reading.documents, *drops);
    if (!more) return call->Fail(more.error());
    reading.problems = std::move(*more);
  }
  if (!reading.problems.empty()) return FailProblems(*call, std::move(reading.problems));
  if (const auto* kind = KindDenied(call->actor().role, reading.documents, *drops))
    return FailMayNot(*call, *kind);
  auto command = ApplyCommandOf(services.store, *request, reading.documents, *drops);
  if (!command) return call->Fail(command.error());
  command->caller = CallerOf(*call);
  auto warnings =
      ApplyWarnings(services.inventory(), services.clock.Read().wall, reading.documents).Take();
  if (request->dry_run) {
    const auto foreseen = Foresee(services.store, *command);
    if (!foreseen) return call->Fail(foreseen.error());
    return call->Json(200, FatesView(*foreseen, true, warnings));
  }
  services.engine.Ask(std::move(*command), [call, warnings = std::move(warnings)](
                                               const Result<engine::DocumentsApplied>& applied) {
    if (!applied) return call->Fail(applied.error());
    call->Json(200, FatesView(*applied, false, warnings));
  });
}

// What a list has of a document. Lists read heads only: a document may have megabytes.
json::object HeadView(const DocumentHead& head) {
  json::object view{{"kind", head.kind},        {"name", head.name}, {"version", head.version},
                    {"hash", ToHex(head.hash)}, {"by", head.by},     {"at", TimeView(head.at)},
                    {"labels", json::object()}};
  for (const auto& [key, value] : head.labels) view["labels"].as_object()[key] = value;
  return view;
}

json::object DocumentView(const Document& document) {
  json::object view = HeadView(HeadOf(document));
  view["text"] = document.text;
  json::object attachments;
  for (const auto& [path, bytes] : document.attachments)
    attachments[path] =
        IsUtf8(bytes) ? json::value(bytes) : json::value(json::object{{"base64", ToBase64(bytes)}});
  view["attachments"] = std::move(attachments);
  json::object pushes;
  for (const auto& [path, files] : document.pushes) {
    json::array entries;
    for (const auto& file : files) {
      json::object entry{{"path", file.path}, {"mode", fmt::format("{:04o}", file.mode)}};
      if (file.folder)
        entry["folder"] = true;
      else
        entry.insert({{"sha256", ToHex(file.sha256)}, {"size", file.size}});
      entries.push_back(std::move(entry));
    }
    pushes[path] = std::move(entries);
  }
  view["pushes"] = std::move(pushes);
  return view;
}

bool IsKind(const CallPtr& call, const std::string& kind) {
  if (documents::ParseKind(kind)) return true;
  call->Fail(400, "invalid",
             fmt::format("kind: '{}' is none; expected one of {}", kind,
                         fmt::join(documents::KindNames(), ", ")));
  return false;
}

void ListDocuments(Services& services, const CallPtr& call) {
  const std::string kind = call->Query("kind");
  if (!IsKind(call, kind)) return;
  const auto limit = call->QueryNumber("limit", 100, 1, 1000);
  if (!limit) return call->Fail(limit.error());
  const std::string prefix = call->Query("prefix");
  std::function<bool(const std::string&)> wanted;
  if (!prefix.empty())
    wanted = [&prefix](const std::string& name) { return name.starts_with(prefix); };
  const auto page = FindHeads(services.store, *call, kind, *limit, wanted);
  if (!page) return call->Fail(page.error());
  json::array list;
  for (const auto& head : page->heads) list.push_back(HeadView(head));
  json::value next = nullptr;
  if (!page->next.empty()) next = page->next;
  call->Json(200, {{"documents", std::move(list)}, {"next", std::move(next)}});
}

std::string NoSuch(const std::string& kind, const std::string& name, const std::string& hint = "") {
  return fmt::format("there is no {} '{}'{}; see 'muster get {}'", kind, name, hint,
                     documents::FindKind(kind)->plural);
}

void ShowDocument(Services& services, const CallPtr& call) {
  const std::string& kind = call->Part("kind");
  if (!IsKind(call, kind)) return;
  const auto version = call->QueryNumber("version", 0, 0, UINT32_MAX);
  if (!version) return call->Fail(version.error());
  const auto found =
      services.store.FindDocument(kind, call->Part("name"), static_cast<std::uint32_t>(*version));
  if (!found) return call->Fail(found.error());
  if (!*found)
    return call->Fail(
        404, "not_found",
        *version == 0
            ? NoSuch(kind, call->Part("name"), DidYouMean(services.store, kind, call->Part("name")))
            : fmt::format("{} '{}' has no version {}", kind, call->Part("name"), *version));
  call->Json(200, DocumentView(**found));
}

void Delete(Services& services, const CallPtr& call) {
  const std::string& kind = call->Part("kind");
  const std::string& name = call->Part("name");
  if (!IsKind(call, kind)) return;
  std::string reason = call->Query("reason");
  if (auto fits = CheckReason(reason); !fits) return call->Fail(fits.error());
  const std::set<DocumentKey> drops{{kind, name}};
  if (const auto* denied = KindDenied(call->actor().role, {}, drops))
    return FailMayNot(*call, *denied);
  const auto problems = CheckReferences(services.store, {}, drops);
  if (!problems) return call->Fail(problems.error());
  if (!problems->empty())
    return call->Fail(409, "conflict",
                      fmt::format("{}; change that first", problems->front().sentence));
  auto command = ApplyCommandOf(services.store, {.reason = std::move(reason)}, {}, drops);
  if (!command) return call->Fail(command.error());
  command->caller = CallerOf(*call);
  services.engine.Ask(
      std::move(*command), [call, kind, name](const Result<engine::DocumentsApplied>& applied) {
        if (!applied) return call->Fail(applied.error());
        if (applied->documents.front().fate == engine::DocumentFate::kMissing)
          return call->Fail(404, "not_found", NoSuch(kind, name));
        call->Json(200, FatesView(*applied, false).at("documents").as_array().front());
      });
}

using Handler = void (*)(Services& services, const CallPtr& call);

void InLane(DocumentServices& services, const CallPtr& call, Handler handle) {
  if (!services.waiting.Take(call)) return;
  services.lane.Post([&services, call, handle] { handle(services.common, call); },
                     [call] {
                       call->Fail(503, "unavailable", "the server is busy; try again shortly",
                                  {{"Retry-After", "1"}});
                     });
}

}  // namespace

std::vector<Route> DocumentRoutes(DocumentServices& services) {
  Services& common = services.common;
  return {
      {"POST", "/api/v1/documents", Privilege::kOperate,
       [&services](const CallPtr& call) { InLane(services, call, Apply); }},
      {"GET", "/api/v1/documents", Privilege::kView,
       [&common](const CallPtr& call) { ListDocuments(common, call); }, kOnRecord},
      {"GET", "/api/v1/documents/{kind}/{name}", Privilege::kView,
       [&common](const CallPtr& call) { ShowDocument(common, call); }, kOnRecord},
      // Reads the jobs that are kept.
      {"DELETE", "/api/v1/documents/{kind}/{name}", Privilege::kOperate,
       [&services](const CallPtr& call) { InLane(services, call, Delete); }},
  };
}

}  // namespace muster::server::api
