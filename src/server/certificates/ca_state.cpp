#include "server/certificates/ca_state.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "link/certificates.hpp"
#include "server/certificates/certificates.hpp"

namespace muster::server {
namespace {

namespace json = boost::json;

constexpr const char* kCaStateFile = "ca.state";
// A server that runs keeps it this fresh; of an older one the other servers may have changed since.
constexpr Duration kKeptEvery = std::chrono::seconds(20);
constexpr Duration kCaStateFresh = std::chrono::minutes(2);
// Hosts decide what they say, so the number of groups is bounded.
constexpr std::size_t kMostCaGroups = 100;
constexpr std::size_t kMostExamples = 3;

json::array TextsOf(const std::vector<std::string>& texts) {
  return json::array(texts.begin(), texts.end());
}

std::vector<std::string> TextsIn(const json::value& value) {
  return json::value_to<std::vector<std::string>>(value);
}

json::object AsJson(const CaState& state) {
  json::array servers;
  for (const auto& one : state.cluster.servers)
    servers.push_back(
        json::object{{"name", one.name}, {"url", one.url}, {"cas", TextsOf(one.cas)}});
  json::array hosts;
  for (const auto& one : state.cluster.hosts)
    hosts.push_back(json::object{
        {"ca", one.ca}, {"trusts", one.trusts}, {"count", one.count}, {"example", one.examples}});
  return {{"server", state.server},    {"cas", TextsOf(state.cas)},
          {"trusts", state.trusts},    {"servers", std::move(servers)},
          {"hosts", std::move(hosts)}, {"written", state.written.ms}};
}

CaState FromJson(const json::object& object) {
  CaState state{.server = json::value_to<std::string>(object.at("server")),
                .cas = TextsIn(object.at("cas")),
                .trusts = json::value_to<std::string>(object.at("trusts")),
                .cluster = {},
                .written = {object.at("written").to_number<std::int64_t>()}};
  for (const auto& one : object.at("servers").as_array())
    state.cluster.servers.push_back({json::value_to<std::string>(one.at("name")),
                                     json::value_to<std::string>(one.at("url")),
                                     TextsIn(one.at("cas"))});
  for (const auto& one : object.at("hosts").as_array())
    state.cluster.hosts.push_back({json::value_to<std::string>(one.at("ca")),
                                   json::value_to<std::string>(one.at("trusts")),
                                   one.at("count").to_number<std::uint64_t>(),
                                   json::value_to<std::string>(one.at("example"))});
  return state;
}

bool Holds(const std::vector<std::string>& ids, const std::string& id) {
  return std::ranges::find(ids, id) != ids.end();
}

// A server that is alone knows all there is, also when it does not run.
Result<> CheckFresh(const CaState& state, WallTime now) {
  if (state.cluster.servers.empty() || now - state.written < kCaStateFresh) return {};
  return Fail(ErrorCode::kConflict,
              "what this server knows of the other servers is of {}: start musterd here, and wait "
              "until it is ready",
              FormatTime(state.written));
}

// The servers for which `bad` holds, with what is wrong.
template <typename Bad>
Result<> CheckServers(const CaState& state, Bad bad, std::string_view what,
                      std::string_view remedy) {
  std::vector<std::string> names;
  for (const auto& one : state.cluster.servers)
    if (one.cas.empty() || bad(one)) names.push_back(one.name);
  if (names.empty()) return {};
  return Fail(ErrorCode::kConflict, "servers that {}: {}{}", what, fmt::join(names, ", "), remedy);
}

// The same for hosts.
template <typename Bad>
Result<> CheckHosts(const CaState& state, Bad bad, std::string_view what, std::string_view filter) {
  std::uint64_t count = 0;
  std::vector<std::string> examples;
  std::string silent;
  for (const auto& one : state.cluster.hosts) {
    if (!bad(one)) continue;
    count += one.count;
    if (one.ca.empty())
      silent = fmt::format(" {} of them ({}) never told their CA.", one.count, one.examples);
    if (examples.size() < kMostExamples) examples.push_back(one.examples);
  }
  if (count == 0) return {};
  return Fail(ErrorCode::kConflict,
              "hosts that {}, and would be cut off: {} ({}).{} Wait until each was connected, or "
              "remove or revoke it (muster hosts '{}')",
              what, count, fmt::join(examples, ", "), silent, filter);
}

std::string FactOf(const Host& host, std::string_view name) {
  const auto fact = host.facts.find(name);
  return fact == host.facts.end() ? "" : fact->second;
}

}  // namespace

bool IsCaStateNews(const CaState& before, const CaState& now) {
  return now.cas != before.cas || now.trusts != before.trusts || now.server != before.server ||
         now.cluster != before.cluster || now.written - before.written >= kKeptEvery;
}

Result<> WriteCaState(const std::filesystem::path& data, const CaState& state) {
  return WriteSecret(data / kCaStateFile, json::serialize(AsJson(state)) + "\n");
}

Result<CaState> ReadCaState(const std::filesystem::path& data) {
  const auto text = ReadWhole(data / kCaStateFile);
  if (!text && text.error().code == ErrorCode::kNotFound)
    return Fail(ErrorCode::kNotFound,
                "musterd has not run with {} yet, so it does not know its cluster: start it first",
                data.string());
  if (!text) return Fail(text.error());
  try {
    return FromJson(json::parse(*text).as_object());
  } catch (const std::exception& problem) {
    return Fail(ErrorCode::kInvalid, "{} is damaged ({}): restart musterd, which makes it again",
                (data / kCaStateFile).string(), problem.what());
  }
}

std::vector<HostsOfCa> GroupByCa(const std::vector<const Host*>& hosts) {
  struct Group {
    std::uint64_t count = 0;
    std::set<std::string> names;  // the first few
  };
  std::map<std::pair<std::string, std::string>, Group> groups;
  for (const Host* host : hosts) {
    if (host->state != HostState::kActive) continue;
    auto key = std::pair(FactOf(*host, link::kFactCa), FactOf(*host, link::kFactTrusts));
    if (groups.size() >= kMostCaGroups && !groups.contains(key)) key = {"", ""};
    Group& group = groups[key];
    ++group.count;
    group.names.insert(host->name);
    if (group.names.size() > kMostExamples) group.names.erase(std::prev(group.names.end()));
  }
  std::vector<HostsOfCa> list;
  for (const auto& [key, group] : groups)
    list.push_back({.ca = key.first,
                    .trusts = key.second,
                    .count = group.count,
                    .examples = fmt::format("{}", fmt::join(group.names, ", "))});
  return list;
}

Result<> MayAddCa(const CaState& state, const std::vector<std::string>& trusted) {
  std::string first = state.server;
  for (const auto& one : state.cluster.servers) {
    const bool other =
        std::ranges::any_of(one.cas, [&](const std::string& id) { return !Holds(trusted, id); });
    if (other)
      return Fail(ErrorCode::kConflict,
                  "{} has a CA that is not known here: bring it ('musterd ca export' there, "
                  "'musterd ca add --from FILE' here), and make no other one",
                  one.name);
    first = std::min(first, one.name);
  }
  if (first == state.server) return {};
  return Fail(ErrorCode::kConflict,
              "the servers of a cluster have one CA: make it on {}, and bring it to this one "
              "('musterd ca export' there, 'musterd ca add --from FILE' here)",
              first);
}

Result<> MayUseCa(const CaState& state, const std::string& next, WallTime now) {
  if (!Holds(state.cas, next))
    return Fail(ErrorCode::kConflict,
                "musterd does not serve the next CA yet, so no agent has it: restart musterd, and "
                "wait until the agents are back");
  if (const auto fresh = CheckFresh(state, now); !fresh) return fresh;
  if (const auto servers = CheckServers(
          state, [&](const ServerFacts& one) { return !Holds(one.cas, next); },
          "do not trust the next CA, as far as this server knows",
          ". Run 'musterd ca add --from FILE' and restart musterd there");
      !servers)
    return servers;
  return CheckHosts(
      state, [&](const HostsOfCa& one) { return one.trusts != state.trusts; },
      "did not get the next CA yet", "fact.trusts!=" + state.trusts);
}

Result<> MayDropCas(const CaState& state, const std::string& signer, WallTime now) {
  if (state.cas.empty() || state.cas.front() != signer)
    return Fail(ErrorCode::kConflict,
                "musterd does not sign with this CA yet: restart it, and wait until the agents "
                "have renewed their certificates");
  if (const auto fresh = CheckFresh(state, now); !fresh) return fresh;
  if (const auto servers = CheckServers(
          state, [&](const ServerFacts& one) { return one.cas.front() != signer; },
          "sign with another CA, as far as this server knows",
          ". Run 'musterd ca use' and restart musterd there");
      !servers)
    return servers;
  return CheckHosts(
      state, [&](const HostsOfCa& one) { return one.ca != signer; },
      "still have a certificate of another CA", "fact.ca!=" + signer);
}

Result<> MayUndoCa(const CaState& state, const std::string& former, WallTime now) {
  if (const auto fresh = CheckFresh(state, now); !fresh) return fresh;
  return CheckServers(
      state, [&](const ServerFacts& one) { return !Holds(one.cas, former); },
      "no longer trust the CA that signed before", "");
}

}  // namespace muster::server
