#include <boost/json.hpp>

#include "server/api/caller.hpp"
#include "server/api/labels.hpp"
#include "server/api/routes.hpp"
#include "server/api/views.hpp"
#include "server/planning/resolve.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostReason = 500;

// The one text field such a body may have; "" when it is absent.
Result<std::string> ReadText(const Call& call, std::string_view field) {
  if (call.request().body.empty()) return std::string();
  const auto body = call.Body();
  if (!body) return Fail(body.error());
  std::string text;
  for (const auto& item : *body) {
    if (item.key() != field || !item.value().is_string())
      return Fail(ErrorCode::kInvalid, "unknown field '{}'; expected {}, a string",
                  std::string_view(item.key()), field);
    text = item.value().as_string();
  }
  if (text.size() > kMostReason)
    return Fail(ErrorCode::kInvalid, "{}: at most {} bytes", field, kMostReason);
  return text;
}

json::object PendingView(const PendingJoin& join) {
  json::object labels;
  for (const auto& [key, value] : join.labels) labels[key] = value;
  for (const auto& [key, value] : join.invited) labels[key] = value;
  return {{"name", join.name},
          {"key", join.key},
          {"address", join.address},
          {"since", FormatTime(join.since)},
          {"labels", std::move(labels)}};
}

// Hands the command to the engine and its answer to `view`.
template <typename Command, typename View>
void AskAndAnswer(Services& services, const CallPtr& call, Command command, View view) {
  services.engine.Ask(std::move(command), [call, view](Result<typename Command::Answer> answer) {
    if (!answer) return call->Fail(answer.error());
    call->Json(200, view(*answer));
  });
}

json::object ChangedView(const engine::HostChanged& changed) {
  return {{"name", changed.host.name},
          {"id", changed.host.id.value},
          {"state", Name(changed.host.state)},
          {"note", changed.host.note}};
}

json::object InviteView(const Invite& invite) {
  json::object labels;
  for (const auto& [key, value] : invite.labels) labels[key] = value;
  return {{"id", invite.id},
          {"kind", invite.server ? "server" : "agent"},
          {"uses_left", invite.uses_left},
          {"joined", invite.server_name},
          {"expires", FormatTime(invite.expires)},
          {"created", FormatTime(invite.created)},
          {"created_by", invite.created_by},
          {"names", invite.names},
          {"labels", std::move(labels)},
          {"replace", invite.replace},
          {"no_own_labels", invite.no_own_labels}};
}

void ListInvites(Services& services, const CallPtr& call) {
  engine::ListInvites request{.caller = CallerOf(*call)};
  AskAndAnswer(services, call, std::move(request),
               [](const engine::OpenInvites& found) -> json::object {
                 json::array list;
                 for (const auto& invite : found.invites) list.push_back(InviteView(invite));
                 return {{"invites", std::move(list)}};
               });
}

void RevokeInvite(Services& services, const CallPtr& call) {
  const auto reason = ReadText(*call, "reason");
  if (!reason) return call->Fail(reason.error());
  engine::RevokeInvite request{
      .caller = CallerOf(*call), .id = call->Part("invite"), .reason = *reason};
  AskAndAnswer(services, call, std::move(request),
               [](const engine::InviteRevoked& done) { return InviteView(done.invite); });
}

void ListPending(Services& services, const CallPtr& call) {
  engine::ListPending request{.caller = CallerOf(*call)};
  AskAndAnswer(services, call, std::move(request),
               [](const engine::PendingJoins& found) -> json::object {
                 json::array list;
                 for (const auto& join : found.joins) list.push_back(PendingView(join));
                 return {{"pending", std::move(list)}};
               });
}

void Accept(Services& services, const CallPtr& call) {
  const auto key = ReadText(*call, "key");
  if (!key) return call->Fail(key.error());
  engine::AcceptJoin request{.caller = CallerOf(*call), .name = call->Part("name"), .key = *key};
  AskAndAnswer(services, call, std::move(request), ChangedView);
}

void Reject(Services& services, const CallPtr& call) {
  const auto reason = ReadText(*call, "reason");
  if (!reason) return call->Fail(reason.error());
  engine::RejectJoin request{
      .caller = CallerOf(*call), .name = call->Part("name"), .reason = *reason};
  AskAndAnswer(services, call, std::move(request),
               [](const engine::JoinRejected& rejected) { return PendingView(rejected.pending); });
}

void Revoke(Services& services, const CallPtr& call) {
  const auto reason = ReadText(*call, "reason");
  if (!reason) return call->Fail(reason.error());
  engine::RevokeHost request{
      .caller = CallerOf(*call), .name = call->Part("name"), .reason = *reason};
  AskAndAnswer(services, call, std::move(request), ChangedView);
}

void Remove(Services& services, const CallPtr& call) {
  const auto reason = ReadText(*call, "reason");
  if (!reason) return call->Fail(reason.error());
  engine::RemoveHost request{
      .caller = CallerOf(*call), .name = call->Part("name"), .reason = *reason};
  AskAndAnswer(services, call, std::move(request), ChangedView);
}

Result<std::vector<std::string>> ReadKeys(const json::value& value) {
  std::vector<std::string> keys;
  const auto* list = value.if_array();
  if (list == nullptr) return Fail(ErrorCode::kInvalid, "remove: expected an array of label keys");
  for (const auto& item : *list) {
    if (!item.is_string())
      return Fail(ErrorCode::kInvalid, "remove: expected an array of label keys");
    keys.emplace_back(item.as_string());
    if (const auto fits = CheckLabel(keys.back(), ""); !fits) return Fail(fits.error());
  }
  return keys;
}

Result<engine::LabelHosts> ReadLabelling(const json::object& body) {
  engine::LabelHosts request;
  for (const auto& field : body) {
    if (field.key() == "targets" && field.value().is_string()) {
      request.targets = field.value().as_string();
    } else if (field.key() == "set") {
      auto labels = ReadLabels(field.value());
      if (!labels) return Fail(labels.error());
      request.set = std::move(*labels);
    } else if (field.key() == "remove") {
      auto keys = ReadKeys(field.value());
      if (!keys) return Fail(keys.error());
      request.remove = std::move(*keys);
    } else {
      return Fail(ErrorCode::kInvalid, "unknown field '{}'; expected targets, set, remove",
                  std::string_view(field.key()));
    }
  }
  if (request.set.empty() && request.remove.empty())
    return Fail(ErrorCode::kInvalid, "nothing to do: give labels to set or keys to remove");
  return request;
}

void Label(Services& services, const CallPtr& call) {
  const auto body = call->Body();
  if (!body) return call->Fail(body.error());
  auto request = ReadLabelling(*body);
  if (!request) return call->Fail(request.error());
  const auto resolved =
      ResolveTargets(services.inventory(), request->targets, "", {}, GoOnFor(*call));
  if (!resolved)
    return resolved.error().code == ErrorCode::kNotFound
               ? call->Fail(404, "no_match", resolved.error().message)
               : call->Fail(resolved.error());
  for (const auto& target : *resolved->targets) request->hosts.push_back(target.host);
  request->caller = CallerOf(*call);
  AskAndAnswer(services, call, std::move(*request),
               [](const engine::HostsLabelled& done) -> json::object {
                 return {{"hosts", done.hosts}, {"changed", done.changed}};
               });
}

}  // namespace

std::vector<Route> FleetRoutes(Services& services) {
  return {
      {"GET", "/api/v1/invites", Privilege::kAdmin,
       [&services](const CallPtr& call) { ListInvites(services, call); }},
      {"POST", "/api/v1/invites/{invite}/revoke", Privilege::kAdmin,
       [&services](const CallPtr& call) { RevokeInvite(services, call); }},
      {"GET", "/api/v1/agents/pending", Privilege::kView,
       [&services](const CallPtr& call) { ListPending(services, call); }},
      {"POST", "/api/v1/agents/pending/{name}/accept", Privilege::kAdmin,
       [&services](const CallPtr& call) { Accept(services, call); }},
      {"POST", "/api/v1/agents/pending/{name}/reject", Privilege::kAdmin,
       [&services](const CallPtr& call) { Reject(services, call); }},
      {"POST", "/api/v1/hosts/{name}/revoke", Privilege::kAdmin,
       [&services](const CallPtr& call) { Revoke(services, call); }},
      {"POST", "/api/v1/hosts/{name}/remove", Privilege::kAdmin,
       [&services](const CallPtr& call) { Remove(services, call); }},
      {"POST", "/api/v1/hosts/labels", Privilege::kAdmin,
       [&services](const CallPtr& call) { Label(services, call); }},
  };
}

}  // namespace muster::server::api
