#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include <boost/json.hpp>

#include "server/api/caller.hpp"
#include "server/api/fields.hpp"
#include "server/api/heads_page.hpp"
#include "server/api/routes.hpp"
#include "server/api/views.hpp"
#include "server/planning/known_names.hpp"
#include "server/runtime/worker_pool.hpp"

// Channels with what they took, and tests of them.
namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr const char* kChannelKind = "channel";

// How often a test looks whether it goes on.
constexpr Duration kTestLooksEvery = std::chrono::seconds(1);

struct ChannelTest {
  CallPtr call;
  std::string channel;
  std::shared_ptr<void> place;  // until it ended
  std::function<void()> cancel = {};
  std::atomic<bool> ended = false;
};

json::value AttemptView(const std::optional<ChannelBook::Delivery>& last) {
  if (!last) return nullptr;
  return {{"at", TimeView(last->at)}, {"delivered", last->delivered}, {"reason", last->reason}};
}

void ListChannels(ChannelServices& services, const CallPtr& call) {
  const auto limit = call->QueryNumber("limit", 100, 1, 500);
  if (!limit) return call->Fail(limit.error());
  const auto page = FindHeads(services.common.store, *call, kChannelKind, *limit);
  if (!page) return call->Fail(page.error());
  json::array list;
  for (const auto& head : page->heads) {
    if (const auto on = call->GoesOn(); !on) return call->Fail(on.error());
    auto description = services.lists.descriptions.Of(head);
    if (!description) return call->Fail(description.error());
    const auto known = services.common.channel_book.Find(head.name);
    list.push_back({{"name", head.name},
                    {"type", std::move(description->type)},
                    {"description", std::move(description->text)},
                    {"version", head.version},
                    {"undelivered", known.undelivered},
                    {"oldest_undelivered", TimeView(known.oldest)},
                    {"last_delivery", TimeView(known.delivered.value_or(WallTime{}))},
                    {"last_attempt", AttemptView(known.last)}});
  }
  json::value next = nullptr;
  if (!page->next.empty()) next = page->next;
  call->Json(200, {{"channels", std::move(list)},
                   {"since", TimeView(services.common.channel_book.Since())},
                   {"next", std::move(next)}});
}

void EndTest(ChannelTest& test, const ServerOutcome& outcome) {
  test.ended = true;
  test.place.reset();
  Call& call = *test.call;
  if (outcome.state == TaskState::kKilled || outcome.state == TaskState::kSkipped)
    if (const auto on = call.GoesOn(); !on) return call.Fail(on.error());
  json::value status = nullptr;
  if (outcome.status != 0) status = outcome.status;
  call.Json(200, {{"channel", test.channel},
                  {"delivered", outcome.state == TaskState::kSucceeded},
                  {"state", Name(outcome.state)},
                  {"status", std::move(status)},
                  {"reason", outcome.reason}});
}

// A test whose caller is gone, or may not wait any more, leaves its place to others.
void WatchTest(ChannelServices& services, const std::shared_ptr<ChannelTest>& test) {
  services.later(kTestLooksEvery, [&services, weak = std::weak_ptr(test)] {
    const auto open = weak.lock();
    if (!open || open->ended) return;
    if (open->call->GoesOn()) return WatchTest(services, open);
    open->cancel();
  });
}

// On a worker's thread.
void SendTest(ChannelServices& services, const std::shared_ptr<ChannelTest>& test) {
  test->cancel = services.test(
      test->channel,
      fmt::format("This is a test message of Muster, sent by {}.", test->call->actor().name),
      [test](const ServerOutcome& outcome) { EndTest(*test, outcome); });
  WatchTest(services, test);
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
  auto place = services.tests.Begin(call->actor().name);
  if (!place) return call->Fail(503, "unavailable", place.error().message, {{"Retry-After", "5"}});
  const auto test = std::make_shared<ChannelTest>(call, name, std::move(*place));
  // The audit trail has it before anything is sent. The engine's thread sends nothing itself.
  services.common.engine.Ask(
      std::move(command), [&services, call, test](const Result<engine::Done>& answer) {
        if (!answer) return call->Fail(answer.error());
        const auto send = [&services, test] { SendTest(services, test); };
        if (!services.workers.Post(send, "test channel"))
          call->Fail(503, "unavailable", "the server is busy and sent nothing; try again shortly",
                     {{"Retry-After", "1"}});
      });
}

}  // namespace

std::vector<Route> ChannelRoutes(ChannelServices& services) {
  return {
      {"GET", "/api/v1/channels", Privilege::kView,
       [&services](const CallPtr& call) {
         services.lists.Post(call, [&services, call] { ListChannels(services, call); });
       }},
      {"POST", "/api/v1/channels/{name}/test", Privilege::kOperate,
       [&services](const CallPtr& call) { TestChannel(services, call); }},
  };
}

}  // namespace muster::server::api
