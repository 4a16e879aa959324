#include "base/version.hpp"

#include "link/version.hpp"
#include "unit/engine/engine_fixture.hpp"

namespace muster::engine {
namespace {

class VersionTest : public EngineFixture {
 protected:
  // Says Hello for h1 on a new link; what came back on it is in frames_.
  void Hello(std::uint64_t link, std::uint64_t session, const std::string& version) {
    const Host& host = TheHost();
    NodeHello hello;
    hello.link = LinkId(link);
    hello.key = host.key;
    hello.hello.version = version;
    hello.hello.store = host.store;
    hello.hello.boot = host.boot;
    hello.hello.session = session;
    Tell(hello);
    Settle();
  }
  const Host& TheHost() { return pipeline_->engine()->state().hosts.entries.begin()->second.host; }
  bool Online() {
    return static_cast<bool>(pipeline_->engine()->state().hosts.entries.begin()->second.link);
  }
  std::string FarVersion() {
    return fmt::format("{}.0.0", link::Version::Parse(kVersion)->major + 1);
  }
};

TEST_F(VersionTest, AnAgentOfAnotherMajorVersionIsRefusedAndTheHostSaysWhy) {
  AddHosts(1);
  Tell(LinkClosed{LinkId(1)});
  Hello(50, 50, FarVersion());
  EXPECT_FALSE(Online());
  EXPECT_NE(TheHost().note.find("upgrade the server"), std::string::npos) << TheHost().note;
  EXPECT_EQ(TheHost().state, HostState::kActive);
  EXPECT_LT(TheHost().session, 50U);  // it was not taken as this host's agent
}

TEST_F(VersionTest, TheSameRefusalAgainIsNotWrittenAgain) {
  AddHosts(1);
  Tell(LinkClosed{LinkId(1)});
  Hello(50, 50, FarVersion());
  const auto written = pipeline_->committed_number();
  Hello(51, 51, FarVersion());
  EXPECT_EQ(pipeline_->committed_number(), written);
}

TEST_F(VersionTest, AnAgentThatFitsTakesTheNoteAway) {
  AddHosts(1);
  Tell(LinkClosed{LinkId(1)});
  Hello(50, 50, FarVersion());
  Hello(51, 51, kVersion);
  EXPECT_TRUE(Online());
  EXPECT_EQ(TheHost().note, "");
}

TEST_F(VersionTest, ALinkThatWorksIsNotDisturbedByARefusedOne) {
  AddHosts(1);
  Hello(50, 50, FarVersion());
  EXPECT_TRUE(Online());
  EXPECT_EQ(TheHost().note, "");
}

}  // namespace
}  // namespace muster::engine
