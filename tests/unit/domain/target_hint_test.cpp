#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "domain/targets.hpp"

namespace muster {
namespace {

using testing::HasSubstr;

class TargetHint : public testing::Test {
 protected:
  TargetHint() {
    Add("web1", {{"zone", "sh1"}, {"app", "shop"}});
    Add("web2", {{"zone", "sh2"}, {"app", "shop"}});
    Add("db1", {{"zone", "sh1"}});
  }

  std::string For(std::string_view text) const {
    const auto expression = TargetExpression::Parse(text);
    if (!expression) return expression.error().message;
    std::vector<const Host*> all;
    for (const auto& host : hosts_) all.push_back(&host);
    return expression->Hint(all);
  }

 private:
  void Add(std::string name, Labels labels) {
    Host host;
    host.name = std::move(name);
    host.labels = std::move(labels);
    host.facts = {{"os", "debian"}};
    hosts_.push_back(std::move(host));
  }

  std::vector<Host> hosts_;
};

TEST_F(TargetHint, NamesTheNearestHost) {
  EXPECT_THAT(For("wbe1"), HasSubstr("web1"));
  EXPECT_EQ(For("web3"), "");
  EXPECT_EQ(For("web1"), "");
}

TEST_F(TargetHint, NamesTheNearestLabelAndItsValues) {
  EXPECT_THAT(For("zoen=sh1"), HasSubstr("mean zone?"));
  EXPECT_THAT(For("zone=sh9 and web*"), HasSubstr("sh1, sh2"));
  EXPECT_THAT(For("app=shpo"), HasSubstr("app=shop"));
  EXPECT_THAT(For("fact.oss=debian"), HasSubstr("mean os?"));
  EXPECT_EQ(For("zone=sh2 and db*"), "");
}

TEST_F(TargetHint, LabelsOfOtherToolsAreMeantAsLabels) {
  EXPECT_THAT(For("app:web"), HasSubstr("mean app=web?"));
  EXPECT_THAT(For("web1 or tier:front"), HasSubstr("mean tier=front?"));
  EXPECT_THAT(For("10.0.0.1:22"), testing::Not(HasSubstr("mean")));
}

}  // namespace
}  // namespace muster
