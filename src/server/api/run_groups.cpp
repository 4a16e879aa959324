#include "server/api/run_groups.hpp"

#include <boost/json.hpp>

#include "base/text.hpp"
#include "server/api/run_summary.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostBytes = 190'000;  // of the groups; with their frame below 200 KB
constexpr std::size_t kMostGroupReason = 400;

json::object GroupView(const RunResults::Group& group) {
  const Outcome& outcome = group.outcome;
  return {{"count", group.count},
          {"state", Name(outcome.state)},
          {"exit_code", outcome.exit_code},
          {"signal", outcome.signal},
          {"reason", Clipped(outcome.reason, kMostGroupReason)},
          {"log", Name(outcome.log)},
          {"stdout_sha256", ToHex(outcome.stdout_sha256.Bytes())},
          {"stderr_sha256", ToHex(outcome.stderr_sha256.Bytes())},
          {"masked_sha256", ToHex(outcome.masked_sha256.Bytes())},
          {"hosts", group.hosts},
          {"sample_host", group.sample_host},
          {"sample_visit", group.sample.visit.value},
          {"sample_attempt", group.sample.attempt.value},
          {"bytes", group.sample.bytes}};
}

}  // namespace

json::object GroupsView(const RunResults::Grouped& grouped) {
  json::array list;
  std::size_t bytes = 0;
  std::uint32_t told = 0;
  for (const auto& group : grouped.groups) {
    json::object view = GroupView(group);
    bytes += json::serialize(view).size() + 1;
    if (bytes > kMostBytes) break;
    told += group.count;
    list.push_back(std::move(view));
  }
  const std::size_t shown = list.size();
  return {{"groups", std::move(list)},
          {"groups_total", grouped.groups_total},
          {"groups_left_out", grouped.groups_total - shown},
          {"hosts_left_out", grouped.total - told},
          {"total", grouped.total}};
}

}  // namespace muster::server::api
