#include "unit/engine/engine_fixture.hpp"

namespace muster::engine {
namespace {

// What is decided about servers is only told: whoever asked carries it out afterwards.
class Servers : public EngineFixture {
 protected:
  template <typename Request>
  AuditEntry LastOf(Request request) {
    const auto id = Ask(std::move(request));
    EXPECT_FALSE(replies_.contains(id) && replies_.at(id)) << "answered before the commit";
    Settle();
    EXPECT_TRUE(replies_.at(id));
    return store_.ReadAudit(1, 1000)->back();
  }
  const Caller kAdmin{{}, "admin", "10.0.0.1", "c"};
};

TEST_F(Servers, DrainIsOnTheTrailWithItsReasonBeforeItIsAnswered) {
  const auto entry = LastOf(DrainServer{.caller = kAdmin, .name = "s2", .reason = "kernel"});
  EXPECT_EQ(entry.act, "server.drain");
  EXPECT_EQ(entry.object, "server s2");
  EXPECT_EQ(entry.reason, "kernel");
  EXPECT_EQ(LastOf(DrainServer{.caller = kAdmin, .name = "s2", .wanted = false}).act,
            "server.undrain");
}

TEST_F(Servers, FinalizeIsOnTheTrailWithItsStepsBeforeItIsAnswered) {
  const auto entry = LastOf(FinalizeStore{.caller = kAdmin, .steps = {3, 5}, .reason = "all new"});
  EXPECT_EQ(entry.act, "store.finalize");
  EXPECT_EQ(entry.object, "schema 3, 5");
  EXPECT_EQ(entry.reason, "all new");
  EXPECT_EQ(entry.actor, "admin");
}

TEST_F(Servers, NewsOfKeysAreOnTheTrailOneByOne) {
  const auto before = store_.ReadAudit(1, 1000)->size();
  const auto entry = LastOf(NoteKeys{.caller = {.request = {}, .name = "musterd", .address = {}},
                                     .server = "s2",
                                     .news = {"made a new admin.token", "CA b signs"}});
  EXPECT_EQ(store_.ReadAudit(1, 1000)->size(), before + 2);
  EXPECT_EQ(entry.act, "server.keys");
  EXPECT_EQ(entry.object, "server s2");
  EXPECT_EQ(entry.detail, "CA b signs");
  EXPECT_EQ(entry.actor, "musterd");
}

}  // namespace
}  // namespace muster::engine
