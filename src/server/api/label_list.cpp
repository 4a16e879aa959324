#include <map>
#include <set>

#include <boost/json.hpp>

#include "server/api/routes.hpp"

// Labels and facts of all hosts, for whoever types an expression.
namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::string_view kFactWord = "fact.";

// Of each word, how much there is of it: values of a key, or hosts with a value.
using LabelWords = std::map<std::string, std::uint64_t, std::less<>>;

// Keys as an expression has them, with the number of values of each.
LabelWords LabelKeys(const LiveView& live, std::string_view prefix) {
  std::map<std::string, std::set<std::string>, std::less<>> values;
  std::string key;
  live.WithHosts([&](const std::vector<const Host*>& hosts, const auto&) {
    for (const Host* host : hosts) {
      for (const auto& [name, value] : host->labels)
        if (name.starts_with(prefix)) values[name].insert(value);
      for (const auto& [name, value] : host->facts) {
        key.assign(kFactWord).append(name);
        if (key.starts_with(prefix)) values[key].insert(value);
      }
    }
  });
  LabelWords words;
  for (const auto& [name, known] : values) words.emplace(name, known.size());
  return words;
}

// The values of a key, with the number of hosts of each.
LabelWords LabelValues(const LiveView& live, std::string_view key, std::string_view prefix) {
  LabelWords words;
  const bool fact = key.starts_with(kFactWord);
  const auto plain = fact ? key.substr(kFactWord.size()) : key;
  live.WithHosts([&](const std::vector<const Host*>& hosts, const auto&) {
    for (const Host* host : hosts) {
      const Labels& labels = fact ? host->facts : host->labels;
      const auto found = labels.find(plain);
      if (found != labels.end() && found->second.starts_with(prefix)) ++words[found->second];
    }
  });
  return words;
}

void ListLabels(Services& services, const CallPtr& call) {
  const auto limit = call->QueryNumber("limit", 200, 1, 5000);
  if (!limit) return call->Fail(limit.error());
  const auto& key = call->Query("key");
  const auto& prefix = call->Query("prefix");
  const auto words =
      key.empty() ? LabelKeys(services.live, prefix) : LabelValues(services.live, key, prefix);
  const std::string_view name = key.empty() ? "key" : "value";
  const std::string_view count = key.empty() ? "values" : "hosts";
  json::array list;
  for (auto at = words.upper_bound(call->Query("cursor"));
       at != words.end() && list.size() < *limit; ++at)
    list.push_back(json::object{{name, at->first}, {count, at->second}});
  json::value next = nullptr;
  if (list.size() == *limit && words.upper_bound(list.back().at(name).as_string()) != words.end())
    next = list.back().at(name);
  call->Json(200, {{"labels", std::move(list)}, {"next", std::move(next)}});
}

}  // namespace

std::vector<Route> LabelRoutes(Services& services) {
  return {
      {"GET", "/api/v1/labels", Privilege::kView,
       [&services](const CallPtr& call) { ListLabels(services, call); }},
  };
}

}  // namespace muster::server::api
