#include "unit/engine/flow_fixture.hpp"

namespace muster::engine {
namespace {

class Children : public FlowFixture {
 protected:
  // The parameters of a child of a run that has a secret `token` and a plain `word`.
  std::vector<Param> ParamsOfChild(std::map<std::string, std::string> given,
                                   std::vector<Param> defaults) {
    AddHosts(1);
    RunSpec child;
    child.job = "child";
    child.params = std::move(defaults);
    child.stages = {Named("down")};
    RunSpec spec;
    spec.job = "parent";
    spec.params = {{"token", "deploy", true}, {"word", "hello", false}};
    spec.jobs["child"] = std::make_shared<const RunSpec>(child);
    spec.stages = {With("sub", JobAction{.job = "child", .params = std::move(given)})};
    StartSpec(1, spec);
    EXPECT_EQ(Sent(), Hosts{1});
    return Find(orders_.front().task.run).spec.params;
  }
};

TEST_F(Children, TakeWhatTheStageSaysOverTheirDefaults) {
  EXPECT_EQ(
      ParamsOfChild({{"a", "${{ params.word }} you"}, {"b", "new"}},
                    {{"b", "old", false}, {"c", "kept", false}}),
      (std::vector<Param>{{"b", "new", false}, {"c", "kept", false}, {"a", "hello you", false}}));
}

TEST_F(Children, SecretIsHandedOnByItsName) {
  EXPECT_EQ(ParamsOfChild({{"a", "${{ params.token }}"}, {"b", "${{params.token}}"}},
                          {{"b", "other", true}}),
            (std::vector<Param>{{"b", "deploy", true}, {"a", "deploy", true}}));
}

TEST_F(Children, DefaultThatIsASecretIsNeverReplacedByText) {
  EXPECT_EQ(ParamsOfChild({{"a", "plain"}}, {{"a", "kept", true}}),
            (std::vector<Param>{{"a", "kept", true}}));
}

}  // namespace
}  // namespace muster::engine
