#include "adapters/etcd/messages.hpp"

#include <algorithm>
#include <charconv>

#include <boost/json.hpp>

#include "base/text.hpp"

namespace muster::etcd {
namespace {

namespace json = boost::json;

// gRPC's codes, as the gateway passes them on.
constexpr std::int64_t kInvalidArgument = 3;
constexpr std::int64_t kMissing = 5;
constexpr std::int64_t kPermissionDenied = 7;
constexpr std::int64_t kFailedPrecondition = 9;
constexpr std::int64_t kUnauthenticated = 16;

std::string NumberText(std::int64_t number) { return fmt::format("{}", number); }

// The end of the range of all keys that begin with `prefix`.
std::string EndOf(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (end.empty()) return std::string(1, '\0');  // to the last key
  ++end.back();
  return end;
}

json::object RangeOf(std::string_view prefix) {
  return {{"key", ToBase64(prefix)}, {"range_end", ToBase64(EndOf(prefix))}};
}

json::object PutOf(std::string_view key, std::string_view value, Lease lease) {
  return {{"request_put",
           json::object{
               {"key", ToBase64(key)}, {"value", ToBase64(value)}, {"lease", NumberText(lease)}}}};
}

json::object DeleteOf(std::string_view key) {
  return {{"request_delete_range", json::object{{"key", ToBase64(key)}}}};
}

std::int64_t NumberOf(const json::object& object, std::string_view name) {
  const json::value* found = object.if_contains(name);
  if (found == nullptr) return 0;
  if (found->is_int64()) return found->get_int64();
  const auto* text = found->if_string();
  if (text == nullptr) return 0;
  std::int64_t number = 0;
  std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

bool FlagOf(const json::object& object, std::string_view name) {
  const json::value* found = object.if_contains(name);
  return found != nullptr && found->is_bool() && found->get_bool();
}

std::string TextOf(const json::object& object, std::string_view name) {
  const json::value* found = object.if_contains(name);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

const json::object* ObjectOf(const json::object& object, std::string_view name) {
  const json::value* found = object.if_contains(name);
  return found == nullptr ? nullptr : found->if_object();
}

template <typename Each>
void ForEachObject(const json::object& object, std::string_view name, Each each) {
  const json::value* found = object.if_contains(name);
  const json::array* list = found == nullptr ? nullptr : found->if_array();
  if (list == nullptr) return;
  for (const json::value& value : *list)
    if (const auto* one = value.if_object()) each(*one);
}

Result<Revision> RevisionOf(const json::object& answer) {
  const json::object* header = ObjectOf(answer, "header");
  if (header == nullptr) return Fail(ErrorCode::kInvalid, "the answer has no header");
  return NumberOf(*header, "revision");
}

// Within bounds in which one can count.
std::chrono::seconds TtlOf(const json::object& answer) {
  return std::chrono::seconds(std::clamp<std::int64_t>(NumberOf(answer, "TTL"), 0, 1'000'000'000));
}

KeyValue KeyValueOf(const json::object& kv) {
  return {.key = FromBase64(TextOf(kv, "key")).value_or(""),
          .value = FromBase64(TextOf(kv, "value")).value_or(""),
          .revision = NumberOf(kv, "mod_revision"),
          .lease = NumberOf(kv, "lease")};
}

void AddFound(const json::object& range, std::vector<KeyValue>& found) {
  ForEachObject(range, "kvs", [&](const json::object& kv) { found.push_back(KeyValueOf(kv)); });
}

Result<json::object> ParseObject(std::string_view text) {
  json::error_code problem;
  json::value parsed = json::parse(text, problem);
  if (problem || !parsed.is_object()) return Fail(ErrorCode::kInvalid, "not a JSON object");
  return std::move(parsed.get_object());
}

ErrorCode CodeOf(std::int64_t grpc) {
  switch (grpc) {
    case kInvalidArgument:
      return ErrorCode::kInvalid;
    case kMissing:
      return ErrorCode::kNotFound;
    case kPermissionDenied:
    case kUnauthenticated:
      return ErrorCode::kDenied;
    case kFailedPrecondition:
      return ErrorCode::kConflict;
    default:
      return ErrorCode::kUnavailable;
  }
}

}  // namespace

std::string LoginBody(std::string_view user, std::string_view password) {
  return json::serialize(json::object{{"name", user}, {"password", password}});
}

std::string GrantBody(std::int64_t seconds) {
  return json::serialize(json::object{{"TTL", NumberText(seconds)}});
}

std::string LeaseBody(Lease lease) {
  return json::serialize(json::object{{"ID", NumberText(lease)}});
}

std::string RangeBody(std::string_view prefix) { return json::serialize(RangeOf(prefix)); }

std::string WatchBody(std::string_view prefix, Revision from) {
  json::object create = RangeOf(prefix);
  create["start_revision"] = NumberText(from);
  return json::serialize(json::object{{"create_request", std::move(create)}});
}

std::string ClaimBody(std::string_view key, std::string_view value, Lease lease) {
  json::object absent{
      {"target", "CREATE"}, {"result", "EQUAL"}, {"key", ToBase64(key)}, {"create_revision", "0"}};
  json::object find{{"request_range", json::object{{"key", ToBase64(key)}}}};
  return json::serialize(json::object{{"compare", json::array{std::move(absent)}},
                                      {"success", json::array{PutOf(key, value, lease)}},
                                      {"failure", json::array{std::move(find)}}});
}

std::string ReleaseBody(std::string_view key, std::string_view value, Lease lease) {
  json::object held{{"target", "LEASE"},
                    {"result", "EQUAL"},
                    {"key", ToBase64(key)},
                    {"lease", NumberText(lease)}};
  json::object same{
      {"target", "VALUE"}, {"result", "EQUAL"}, {"key", ToBase64(key)}, {"value", ToBase64(value)}};
  return json::serialize(json::object{{"compare", json::array{std::move(held), std::move(same)}},
                                      {"success", json::array{DeleteOf(key)}}});
}

std::string PutBody(std::string_view key, std::string_view value, Lease lease,
                    std::string_view replaced) {
  json::array steps{PutOf(key, value, lease)};
  if (!replaced.empty()) steps.push_back(DeleteOf(replaced));
  return json::serialize(json::object{{"success", std::move(steps)}});
}

Result<std::string> ReadToken(const json::object& answer) {
  std::string token = TextOf(answer, "token");
  if (token.empty()) return Fail(ErrorCode::kInvalid, "the answer has no token");
  return token;
}

Result<Grant> ReadGrant(const json::object& answer) {
  const Grant grant{NumberOf(answer, "ID"), TtlOf(answer)};
  if (grant.lease == 0 || grant.ttl <= std::chrono::seconds(0))
    return Fail(ErrorCode::kInvalid, "the answer has no lease");
  return grant;
}

Result<std::chrono::seconds> ReadKeptAlive(const json::object& answer) {
  if (NumberOf(answer, "ID") == 0) return Fail(ErrorCode::kInvalid, "the answer has no lease");
  return TtlOf(answer);
}

Result<Snapshot> ReadSnapshot(const json::object& answer) {
  const auto revision = RevisionOf(answer);
  if (!revision) return Fail(revision.error());
  Snapshot snapshot{.cluster = TextOf(*ObjectOf(answer, "header"), "cluster_id"),
                    .revision = *revision};
  AddFound(answer, snapshot.found);
  return snapshot;
}

Result<TxnAnswer> ReadTxn(const json::object& answer) {
  const auto revision = RevisionOf(answer);
  if (!revision) return Fail(revision.error());
  TxnAnswer txn{.succeeded = FlagOf(answer, "succeeded"), .revision = *revision};
  ForEachObject(answer, "responses", [&](const json::object& response) {
    if (const auto* range = ObjectOf(response, "response_range")) AddFound(*range, txn.found);
  });
  return txn;
}

Result<WatchNews> ReadNews(const json::object& answer) {
  const auto revision = RevisionOf(answer);
  if (!revision) return Fail(revision.error());
  WatchNews news{.revision = *revision,
                 .created = FlagOf(answer, "created"),
                 .canceled = FlagOf(answer, "canceled"),
                 .reason = TextOf(answer, "cancel_reason")};
  ForEachObject(answer, "events", [&](const json::object& event) {
    const json::object* kv = ObjectOf(event, "kv");
    if (kv == nullptr) return;
    news.events.push_back(KeyValueOf(*kv));
    news.events.back().deleted = TextOf(event, "type") == "DELETE";
  });
  return news;
}

Result<json::object> ReadAnswer(int status, std::string_view body) {
  auto object = ParseObject(body);
  if (!object)
    return Fail(ErrorCode::kUnavailable, "answered {}, but not as etcd does; is it etcd?", status);
  if (json::object* error = object->contains("error") ? object->at("error").if_object() : nullptr)
    return Fail(CodeOf(NumberOf(*error, "grpc_code")), "{}", TextOf(*error, "message"));
  if (object->contains("error"))
    return Fail(CodeOf(NumberOf(*object, "code")), "{}", TextOf(*object, "error"));
  if (json::object* result =
          object->contains("result") ? object->at("result").if_object() : nullptr)
    return json::object(std::move(*result));
  if (status != 200 || !object->contains("header"))
    return Fail(ErrorCode::kUnavailable, "answered {}, but not as etcd does; is it etcd?", status);
  return object;
}

std::string LeaderText(std::string_view name, std::uint64_t claim) {
  return json::serialize(json::object{{"name", name}, {"claim", claim}});
}

std::string MemberText(const Member& member) {
  json::object labels;
  for (const auto& [key, value] : member.labels) labels[key] = value;
  return json::serialize(json::object{{"name", member.name},
                                      {"url", member.url},
                                      {"version", member.version},
                                      {"labels", std::move(labels)},
                                      {"links", member.links},
                                      {"draining", member.draining},
                                      {"unfit", member.unfit},
                                      {"trouble", member.trouble}});
}

Result<std::string> ReadLeader(std::string_view text) {
  const auto object = ParseObject(text);
  if (!object) return Fail(object.error());
  std::string name = TextOf(*object, "name");
  if (name.empty()) return Fail(ErrorCode::kInvalid, "a leader without name");
  return name;
}

Result<Member> ReadMember(std::string_view text) {
  const auto object = ParseObject(text);
  if (!object) return Fail(object.error());
  Member member{
      .name = TextOf(*object, "name"),
      .url = TextOf(*object, "url"),
      .version = TextOf(*object, "version"),
      .links = static_cast<std::uint64_t>(std::max<std::int64_t>(0, NumberOf(*object, "links"))),
      .draining = FlagOf(*object, "draining"),
      .unfit = TextOf(*object, "unfit"),
      .trouble = TextOf(*object, "trouble")};
  if (member.name.empty()) return Fail(ErrorCode::kInvalid, "a member without name");
  if (const json::object* labels = ObjectOf(*object, "labels")) {
    for (const auto& [key, value] : *labels)
      if (value.is_string()) member.labels[std::string(key)] = std::string(value.get_string());
  }
  return member;
}

}  // namespace muster::etcd
