#include "adapters/etcd/view.hpp"

#include <random>

#include <gtest/gtest.h>

namespace muster::etcd {
namespace {

KeyValue Seat(const std::string& name, Revision revision, std::uint64_t links = 0) {
  return {.key = "/m/members/" + name,
          .value = MemberText({.name = name, .links = links}),
          .revision = revision,
          .lease = 1};
}
KeyValue Gone(const std::string& name, Revision revision) {
  return {.key = "/m/members/" + name, .revision = revision, .deleted = true};
}
KeyValue Leader(const std::string& name, Revision revision, Lease lease) {
  return {.key = "/m/leader", .value = LeaderText(name, 1), .revision = revision, .lease = lease};
}
bool Apply(View& view, const KeyValue& event) { return view.Apply({&event, 1}); }

class EtcdView : public testing::Test {
 protected:
  View view_{Keys("/m/")};
  Position reader_;
};

TEST_F(EtcdView, TellsWhetherAnythingLooksDifferent) {
  EXPECT_TRUE(Apply(view_, Seat("a", 2)));
  EXPECT_FALSE(Apply(view_, Seat("a", 3)));
  EXPECT_TRUE(Apply(view_, Leader("a", 4, 9)));
  EXPECT_EQ(view_.Leader(), "a");
  EXPECT_EQ(view_.Find("/m/leader")->lease, 9);
  EXPECT_FALSE(Apply(view_, Leader("a", 5, 10)));
  EXPECT_TRUE(Apply(view_, {.key = "/m/leader", .revision = 6, .deleted = true}));
  EXPECT_EQ(view_.Leader(), "");
  EXPECT_FALSE(view_.Find("/m/leader"));
  EXPECT_FALSE(Apply(view_, {.key = "/m/else", .value = "x", .revision = 7}));
  EXPECT_FALSE(Apply(view_, {.key = "/m/members/b", .value = "no JSON", .revision = 8}));
}

TEST_F(EtcdView, EventThatAReadOvertookChangesNothing) {
  view_.Replace({.cluster = "1", .revision = 9, .found = {Seat("a", 5, 7)}}, reader_);
  EXPECT_FALSE(Apply(view_, Seat("a", 4, 1)));
  EXPECT_FALSE(Apply(view_, Seat("b", 8)));  // gone at 9
  EXPECT_FALSE(Apply(view_, Gone("a", 3)));
  EXPECT_EQ(view_.Members(), (std::vector<Member>{{.name = "a", .links = 7}}));
}

TEST_F(EtcdView, ReadThatAnEventOvertookDoesNotUndoIt) {
  Apply(view_, Leader("a", 10, 9));
  EXPECT_FALSE(view_.Replace({.cluster = "1", .revision = 9}, reader_));
  EXPECT_EQ(view_.Leader(), "a");
}

TEST_F(EtcdView, OlderReadOfAnotherReaderIsLeftOut) {
  Position other;
  view_.Replace({.cluster = "1", .revision = 9, .found = {Seat("a", 5)}}, reader_);
  EXPECT_FALSE(view_.Replace({.cluster = "1", .revision = 4, .found = {Seat("b", 3)}}, other));
  EXPECT_EQ(view_.Members().size(), 1U);
}

TEST_F(EtcdView, EtcdThatWentBackIsBelieved) {
  view_.Replace({.cluster = "1", .revision = 9, .found = {Seat("a", 5)}}, reader_);
  EXPECT_TRUE(view_.Replace({.cluster = "1", .revision = 2, .found = {Seat("b", 2)}}, reader_));
  EXPECT_EQ(view_.Members()[0].name, "b");
  EXPECT_TRUE(view_.Replace({.cluster = "2", .revision = 3, .found = {Seat("c", 2)}}, reader_));
  EXPECT_EQ(view_.Members()[0].name, "c");
}

TEST_F(EtcdView, EndsAsItIsInEtcdHoweverNewsOvertakeEachOther) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    // States by revision, and the events between them.
    std::map<std::string, KeyValue> state;
    std::vector<Snapshot> reads{{.cluster = "1"}};
    std::vector<KeyValue> events;
    for (Revision revision = 1; revision < 30; ++revision) {
      const std::string name(1, static_cast<char>('a' + random() % 3));
      const bool deletes = random() % 3 == 0;
      KeyValue event = deletes ? Gone(name, revision) : Seat(name, revision, random() % 3);
      state.erase(event.key);
      if (!deletes) state[event.key] = event;
      events.push_back(std::move(event));
      reads.push_back({.cluster = "1", .revision = revision});
      for (const auto& [key, kv] : state) reads.back().found.push_back(kv);
    }
    View view{Keys("/m/")};
    Position keeper;
    Revision read = 0;
    std::size_t heard = 0;
    while (heard < events.size()) {
      if (random() % 3 == 0) {  // a reader goes on from where it was, before or behind the events
        read += static_cast<Revision>(random() % static_cast<unsigned>(30 - read));
        view.Replace(reads[static_cast<std::size_t>(read)], keeper);
      } else {
        Apply(view, events[heard++]);
      }
    }
    View expected{Keys("/m/")};
    Position fresh;
    expected.Replace(reads.back(), fresh);
    EXPECT_EQ(view.Members(), expected.Members()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace muster::etcd
