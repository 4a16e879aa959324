#include "server/api/run_groups.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "base/text.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

RunResults::Grouped GroupsOf(std::size_t count, const std::string& reason, std::size_t names) {
  RunResults::Grouped grouped;
  for (std::size_t i = 0; i < count; ++i) {
    RunResults::Group group;
    group.outcome.state = TaskState::kFailed;
    group.outcome.reason = reason;
    group.outcome.stdout_sha256 = Digest::Of(std::string(32, 'a'));
    group.count = 2;
    group.hosts = std::string(names, 'h');
    group.sample_host = fmt::format("h{}", i);
    grouped.groups.push_back(std::move(group));
  }
  grouped.groups_total = count;
  grouped.total = static_cast<std::uint32_t>(2 * count);
  return grouped;
}

TEST(GroupsView, TellsAllThatFit) {
  const auto view = GroupsView(GroupsOf(3, "why", 10));
  EXPECT_EQ(view.at("groups").as_array().size(), 3U);
  EXPECT_EQ(view.at("groups").at(0).at("stdout_sha256").as_string(), ToHex(std::string(32, 'a')));
  EXPECT_EQ(view.at("groups").at(0).at("masked_sha256"), "");
  EXPECT_EQ(view.at("groups_left_out"), 0);
  EXPECT_EQ(view.at("hosts_left_out"), 0);
}

TEST(GroupsView, StaysBelowItsSizeAndCountsTheRest) {
  for (const std::string& reason : {std::string(), std::string(5000, '\1')}) {
    const auto view = GroupsView(GroupsOf(kMostGroups, reason, 2000));
    EXPECT_LT(json::serialize(view).size(), 200'000U);
    const auto shown = view.at("groups").as_array().size();
    EXPECT_GT(shown, 30U);
    EXPECT_EQ(view.at("groups_left_out").to_number<std::size_t>(), kMostGroups - shown);
    EXPECT_EQ(view.at("hosts_left_out").to_number<std::size_t>(), 2 * (kMostGroups - shown));
  }
}

}  // namespace
}  // namespace muster::server::api
