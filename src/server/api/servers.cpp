#include <algorithm>
#include <map>

#include <boost/json.hpp>

#include "adapters/crypto/box.hpp"
#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"
#include "domain/join_token.hpp"
#include "server/api/caller.hpp"
#include "server/api/fields.hpp"
#include "server/api/invites.hpp"
#include "server/api/routes.hpp"
#include "server/api/views.hpp"
#include "server/peers/cluster.hpp"
#include "server/peers/followers.hpp"
#include "server/peers/schema_watch.hpp"
#include "server/runtime/worker_pool.hpp"

// Servers of the cluster.
namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::uint32_t kMostInviteSeconds = 7 * 86'400;

std::string TroubleOf(const Cluster::View& view) {
  if (!view.here) return "";
  return view.member.unfit.empty() ? view.member.trouble : view.member.unfit;
}

json::object ServerView(const Cluster::View& view) {
  json::object labels;
  for (const auto& [key, value] : view.member.labels) labels[key] = value;
  const std::string_view state = !view.here                   ? "gone"
                                 : !view.member.unfit.empty() ? "unfit"
                                 : view.member.draining       ? "draining"
                                 : view.leads                 ? "leads"
                                                              : "follows";
  return {{"name", view.member.name},       {"state", state},
          {"trouble", TroubleOf(view)},     {"url", view.member.url},
          {"version", view.member.version}, {"links", view.here ? view.member.links : 0},
          {"labels", std::move(labels)},    {"since", TimeView(view.since)}};
}

json::array NumbersView(const std::vector<std::uint64_t>& numbers) {
  return json::array(numbers.begin(), numbers.end());
}

json::object SchemaView(const SchemaWatch::View& view) {
  json::array older;
  for (const auto& server : view.older) older.push_back(json::value(server.name));
  return {{"version", view.schema.version},
          {"unfinished", NumbersView(view.schema.unfinished)},
          {"older_servers", std::move(older)},
          {"finalize_due", view.FinalizeDue()}};
}

void ListServers(ServerServices& services, const CallPtr& call) {
  json::array list;
  for (const auto& view : services.cluster.Servers()) list.push_back(ServerView(view));
  call->Json(200, json::object{{"servers", std::move(list)},
                               {"schema", SchemaView(services.schema.Get())}});
}

void InviteServer(ServerServices& services, const CallPtr& call) {
  auto fields = Fields::Of(*call);
  if (!fields) return call->Fail(fields.error());
  Invite invite;
  std::optional<std::uint32_t> seconds;
  auto read = fields->Text("name", invite.names)
                  .Number("expires_seconds", seconds, 1, kMostInviteSeconds)
                  .Rest();
  if (!read) return call->Fail(read.error());
  if (!invite.names.empty())
    if (const auto fits = CheckHostName(invite.names); !fits) return call->Fail(fits.error());
  const WallTime now = services.common.clock.Read().wall;
  invite.server = true;
  invite.created = now;
  invite.expires = now + std::chrono::seconds(seconds.value_or(3600));
  MakeInvite(services.common, call, std::move(invite));
}

// The keys leave this server only after the join is on the audit trail, and sealed so that nobody
// between the two reads them.
void Join(ServerServices& services, const CallPtr& call) {
  auto fields = Fields::Of(*call);
  if (!fields) return call->Fail(fields.error());
  std::string token;
  std::string name;
  std::string box_key;
  if (auto read = fields->Text("token", token).Text("name", name).Text("box_key", box_key).Rest();
      !read)
    return call->Fail(read.error());
  const auto parsed = ParseJoinToken(token, "muster servers invite");
  if (!parsed) return services.common.refusals.NoJoin(call, parsed.error());
  if (const auto fits = CheckHostName(name); !fits) return call->Fail(fits.error());
  const auto key = FromBase64(box_key);
  if (!key || key->size() != 32 || !crypto::SealFor(*key, ""))
    return call->Fail(400, "invalid", "box_key: expected a public key of 32 bytes as base64");
  const auto keys = services.keys();
  if (!keys) return call->Fail(keys.error());
  engine::Caller caller = CallerOf(*call);
  caller.name = "join";
  services.common.engine.Ask(
      engine::JoinServer{.caller = std::move(caller),
                         .invite = InviteId(parsed->secret),
                         .name = name,
                         .key = ToHex(crypto::Sha256(*key)),
                         .keys = ToHex(crypto::Sha256(keys->Reveal()))},
      [&services, call, key = *key, keys = *keys](const Result<engine::ServerJoined>& answer) {
        if (!answer) return services.common.refusals.NoJoin(call, answer.error());
        const auto sealed = crypto::SealFor(key, keys.Reveal());
        if (!sealed) return call->Fail(sealed.error());
        call->Json(201, {{"cluster", answer->cluster}, {"sealed_keys", ToBase64(*sealed)}});
      });
}

void Drain(ServerServices& services, const CallPtr& call, bool wanted) {
  const std::string name = call->Part("server");
  auto fields = Fields::Of(*call);
  if (!fields) return call->Fail(fields.error());
  std::string reason;
  if (auto read = fields->Reason("reason", reason).Rest(); !read) return call->Fail(read.error());
  const auto servers = services.cluster.Servers();
  const auto found = std::ranges::find_if(
      servers, [&](const Cluster::View& view) { return view.here && view.member.name == name; });
  if (found == servers.end())
    return call->Fail(
        404, "not_found",
        fmt::format("there is no server '{}' in the cluster now; see 'muster servers'", name));
  std::map<std::string, DrainOrders::Server> here;
  for (const auto& view : servers)
    if (view.here) here[view.member.name] = {!view.member.draining, view.drains};
  if (wanted && !services.drains.Take(name, here, services.common.clock.Read().mono))
    return call->Fail(
        409, "conflict",
        fmt::format("'{}' is the last server that takes part; nothing would work", name));
  services.common.engine.Ask(
      engine::DrainServer{
          .caller = CallerOf(*call), .name = name, .wanted = wanted, .reason = reason},
      [&services, call, name, wanted](const Result<engine::Done>& answer) {
        if (wanted != answer.has_value()) services.drains.Drop(name);
        if (!answer) return call->Fail(answer.error());
        call->Json(200, {{"name", name}, {"draining", wanted}});
        if (name == services.name)
          services.cluster.Drain(wanted);
        else
          services.followers.Drain(name, wanted);
      });
}

// Why the store must not be finalized now.
Result<> CheckFinalize(const SchemaWatch::View& view) {
  if (!view.older.empty()) {
    const Member& first = view.older.front();
    return Fail(
        ErrorCode::kConflict,
        "{} still runs version {}, and could not work with the store afterwards: upgrade it "
        "first ('muster servers drain {}', then stop, install and start it)",
        first.name, first.version, first.name);
  }
  if (view.schema.version > view.schema.known)
    return Fail(
        ErrorCode::kConflict,
        "a newer musterd brought the store to schema {}; finalize when all servers run that "
        "version",
        view.schema.version);
  return {};
}

// As a drain: on the audit trail first. After a crash in between it is due as before.
void Finalize(ServerServices& services, const CallPtr& call) {
  auto fields = Fields::Of(*call);
  if (!fields) return call->Fail(fields.error());
  std::string reason;
  if (auto read = fields->Reason("reason", reason).Rest(); !read) return call->Fail(read.error());
  if (const auto seen = services.schema.Look(); !seen) return call->Fail(seen.error());
  const auto view = services.schema.Get();
  if (const auto may = CheckFinalize(view); !may) return call->Fail(may.error());
  const auto version = view.schema.version;
  if (view.schema.unfinished.empty())
    return call->Json(200, {{"schema", version}, {"finished", json::array()}});
  const Term term = services.common.engine.GetStatus().term;
  const auto finalize = [&services, call, version, term] {
    const auto done = services.common.store.Finalize(term);
    if (!done) return call->Fail(done.error());
    (void)services.schema.Look();
    call->Json(200, {{"schema", version}, {"finished", NumbersView(*done)}});
  };
  services.common.engine.Ask(
      engine::FinalizeStore{
          .caller = CallerOf(*call), .steps = view.schema.unfinished, .reason = reason},
      [&services, call, finalize](const Result<engine::Done>& answer) {
        if (!answer) return call->Fail(answer.error());
        if (!services.workers.Post(finalize, "finalize"))
          call->Fail(Error{ErrorCode::kUnavailable, "the server is busy; nothing was done"});
      });
}

}  // namespace

std::vector<Route> ServerRoutes(ServerServices& services) {
  return {
      {"GET", "/api/v1/servers", Privilege::kView,
       [&services](const CallPtr& call) { ListServers(services, call); }},
      {"POST", "/api/v1/servers/invites", Privilege::kAdmin,
       [&services](const CallPtr& call) { InviteServer(services, call); }},
      {"POST", "/api/v1/servers/join", Privilege::kJoin,
       [&services](const CallPtr& call) { Join(services, call); }},
      {"POST", "/api/v1/servers/finalize", Privilege::kAdmin,
       [&services](const CallPtr& call) { Finalize(services, call); }},
      {"POST", "/api/v1/servers/{server}/drain", Privilege::kAdmin,
       [&services](const CallPtr& call) { Drain(services, call, true); }},
      {"POST", "/api/v1/servers/{server}/undrain", Privilege::kAdmin,
       [&services](const CallPtr& call) { Drain(services, call, false); }},
  };
}

}  // namespace muster::server::api
