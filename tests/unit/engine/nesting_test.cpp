#include "domain/nesting.hpp"

#include "unit/engine/flow_fixture.hpp"

namespace muster::engine {
namespace {

class NestedRuns : public FlowFixture {
 protected:
  // A job with so many levels of jobs below it.
  static RunSpec Deep(std::size_t levels) {
    RunSpec spec;
    spec.job = fmt::format("n{}", levels);
    spec.stages = {Named("work")};
    if (levels == 0) return spec;
    auto below = std::make_shared<const RunSpec>(Deep(levels - 1));
    spec.stages = {With("sub", JobAction{.job = below->job, .params = {}})};
    spec.jobs[below->job] = below;
    return spec;
  }
};

// What is refused when documents are applied must be what a run could not do, and no more.
TEST_F(NestedRuns, AreAsDeepAsPlansMayBe) {
  AddHosts(1);
  StartSpec(1, Deep(kDeepestJobs));
  EXPECT_EQ(Sent(), Hosts{1});
  StartSpec(1, Deep(kDeepestJobs + 1));
  EXPECT_EQ(Sent(), Hosts{});
}

}  // namespace
}  // namespace muster::engine
