#include <utility>
#include <variant>

#include <boost/json.hpp>

#include "documents/channel.hpp"
#include "server/api/caller.hpp"
#include "server/api/fields.hpp"
#include "server/api/job_book.hpp"
#include "server/api/known_names.hpp"
#include "server/api/routes.hpp"
#include "server/api/views.hpp"
#include "server/worker_pool.hpp"

// Channels with what they took, and tests of them.
namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::string_view kChannelKind = "channel";

json::value AttemptView(const std::optional<ChannelBook::Delivery>& last) {
  if (!last) return nullptr;
  return {{"at", TimeView(last->at)}, {"delivered", last->delivered}, {"reason", last->reason}};
}

// How it notifies and what it says of itself; both are "" when it cannot be read any more.
std::pair<std::string, std::string> WayOf(const Document& kept) {
  const auto read = ReadKept(kept);
  const auto* document = read ? std::get_if<documents::ChannelDocument>(&read->body) : nullptr;
  if (document == nullptr) return {};
  const auto channel = documents::ChannelOf(*document);
  return {channel ? std::string(KindOf(*channel)) : "", document->description};
}

void ListChannels(ChannelServices& services, const CallPtr& call) {
  Store& store = services.common.store;
  const auto limit = call->QueryNumber("limit", 100, 1, 500);
  if (!limit) return call->Fail(limit.error());
  const auto page = store.ListDocumentHeads(kChannelKind, call->Query("cursor"), *limit);
  if (!page) return call->Fail(page.error());
  json::array list;
  for (const auto& head : *page) {
    if (const auto on = call->GoesOn(); !on) return call->Fail(on.error());
    const auto kept = store.FindDocument(kChannelKind, head.name, head.version);
    if (!kept) return call->Fail(kept.error());
    if (!*kept) continue;
    auto [type, description] = WayOf(**kept);
    const auto known = services.common.channel_book.Find(head.name);
    list.push_back({{"name", head.name},
                    {"type", std::move(type)},
                    {"description", std::move(description)},
                    {"version", head.version},
                    {"undelivered", known.undelivered},
                    {"oldest_undelivered", TimeView(known.oldest)},
                    {"last_delivery", TimeView(known.delivered.value_or(WallTime{}))},
                    {"last_attempt", AttemptView(known.last)}});
  }
  json::value next = nullptr;
  if (page->size() == *limit) next = page->back().name;
  call->Json(200, {{"channels", std::move(list)},
                   {"since", TimeView(services.common.channel_book.Since())},
                   {"next", std::move(next)}});
}

void AnswerTest(Call& call, const std::string& channel, const ServerOutcome& outcome) {
  json::value status = nullptr;
  if (outcome.status != 0) status = outcome.status;
  call.Json(200, {{"channel", channel},
                  {"delivered", outcome.state == TaskState::kSucceeded},
                  {"state", Name(outcome.state)},
                  {"status", std::move(status)},
                  {"reason", outcome.reason}});
}

// On a worker's thread.
void SendTest(ChannelServices& services, const CallPtr& call, const std::string& channel) {
  services.test(
      channel, fmt::format("This is a test message of Muster, sent by {}.", call->actor().name),
      [call, channel](const ServerOutcome& outcome) { AnswerTest(*call, channel, outcome); });
}

void TestChannel(ChannelServices& services, const CallPtr& call) {
  const std::string name = call->Part("name");
  engine::NoteTest command{.caller = CallerOf(*call), .channel = name, .reason = {}};
  auto fields = Fields::Of(*call);
  if (!fields) return call->Fail(fields.error());
  if (auto rest = fields->Reason("reason", command.reason).Rest(); !rest)
    return call->Fail(rest.error());
  const auto kept = services.common.store.FindDocument(kChannelKind, name, 0);
  if (!kept) return call->Fail(kept.error());
  if (!*kept)
    return call->Fail(404, "not_found",
                      fmt::format("there is no channel '{}'{}; see 'muster channels'", name,
                                  DidYouMean(services.common.store, kChannelKind, name)));
  // The audit trail has it before anything is sent. The engine's thread sends nothing itself.
  services.common.engine.Ask(
      std::move(command), [&services, call, name](const Result<engine::Answer>& answer) {
        if (!answer) return call->Fail(answer.error());
        const auto send = [&services, call, name] { SendTest(services, call, name); };
        if (!services.workers.Post(send, "test channel"))
          call->Fail(503, "unavailable", "the server is busy and sent nothing; try again shortly",
                     {{"Retry-After", "1"}});
      });
}

}  // namespace

std::vector<Route> ChannelRoutes(ChannelServices& services) {
  return {
      {"GET", "/api/v1/channels", Privilege::kView,
       [&services](const CallPtr& call) { ListChannels(services, call); }},
      {"POST", "/api/v1/channels/{name}/test", Privilege::kOperate,
       [&services](const CallPtr& call) { TestChannel(services, call); }},
  };
}

}  // namespace muster::server::api
