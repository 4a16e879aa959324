#include "contract/store_fixture.hpp"

namespace muster {
namespace {

class StoreDocuments : public StoreContract {
 protected:
  static Document Job(std::string name, std::uint32_t version) {
    Document document{
        .kind = "job", .name = std::move(name), .version = version, .hash = {}, .text = {}};
    document.hash = std::string(32, static_cast<char>('a' + version));
    document.text = "apiVersion: muster/v1\nkind: job\n# " + std::to_string(version) + "\n";
    document.attachments = {{"files/go.sh", std::string("#!/bin/sh\n\0\xff", 12)}};
    document.pushes = {{"files/conf",
                        {{.path = "", .sha256 = {}, .mode = 0755, .folder = true},
                         {.path = "a", .sha256 = std::string(32, 'x'), .size = 7}}}};
    document.by = "alice";
    document.at = {1'000 + version};
    return document;
  }
  void Put(const Document& document) {
    Commit({PutDocument{std::make_shared<const Document>(document)}});
  }
  std::optional<Document> Find(const std::string& name, std::uint32_t version = 0) {
    auto found = store_->FindDocument("job", name, version);
    EXPECT_TRUE(found) << found.error().message;
    return found ? *found : std::nullopt;
  }
  std::vector<std::string> Names(const std::string& kind, const std::string& after,
                                 std::size_t limit) {
    auto list = store_->ListDocumentHeads(kind, after, limit);
    EXPECT_TRUE(list) << list.error().message;
    std::vector<std::string> names;
    if (list)
      for (const auto& head : *list) names.push_back(fmt::format("{} {}", head.name, head.version));
    return names;
  }
};

TEST_P(StoreDocuments, EveryVersionStaysAndTheLastIsTheLatest) {
  Put(Job("web", 1));
  Put(Job("web", 2));
  Reopen();
  EXPECT_EQ(Find("web"), Job("web", 2));
  EXPECT_EQ(Find("web", 1), Job("web", 1));
  EXPECT_EQ(Find("web", 3), std::nullopt);
  EXPECT_EQ(Find("db"), std::nullopt);
}

TEST_P(StoreDocuments, DeletedOneIsGoneButItsVersionsAreKept) {
  Put(Job("web", 1));
  Commit({DropDocument{"job", "web"}});
  EXPECT_EQ(Find("web"), std::nullopt);
  EXPECT_EQ(Find("web", 1), Job("web", 1));
  EXPECT_EQ(Names("job", "", 10), std::vector<std::string>{});
  Put(Job("web", 2));
  EXPECT_EQ(Find("web"), Job("web", 2));
}

TEST_P(StoreDocuments, ListGoesByNameAndOnFromOne) {
  for (const char* name : {"c", "a", "b"}) Put(Job(name, 1));
  Put(Job("b", 2));
  Document host = Job("a0", 1);
  host.kind = "host";
  Put(host);
  EXPECT_EQ(Names("job", "", 2), (std::vector<std::string>{"a 1", "b 2"}));
  EXPECT_EQ(Names("job", "b", 2), (std::vector<std::string>{"c 1"}));
  EXPECT_EQ(Names("host", "", 10), (std::vector<std::string>{"a0 1"}));
}

TEST_P(StoreDocuments, ListHasWhoAndWhenAndNoFiles) {
  Put(Job("web", 1));
  Document dated_zero = Job("zero", 1);
  dated_zero.at = {};
  Put(dated_zero);
  const auto list = store_->ListDocumentHeads("job", "", 10);
  ASSERT_TRUE(list) << list.error().message;
  auto expected = std::vector{HeadOf(Job("web", 1)), HeadOf(dated_zero)};
  for (auto& head : expected) head.files = {};
  EXPECT_EQ(*list, expected);
}

TEST_P(StoreDocuments, LongListIsWhole) {
  std::vector<Change> changes;
  std::vector<std::string> names;
  for (int i = 100; i < 221; ++i) {
    const std::string name = fmt::format("j{}", i);
    changes.push_back(PutDocument{std::make_shared<const Document>(Job(name, 1))});
    names.push_back(name + " 1");
  }
  Commit(changes);
  EXPECT_EQ(Names("job", "", 1000), names);
  EXPECT_EQ(Names("job", "", 120).size(), 120U);
  EXPECT_EQ(Names("job", "j219", 100), (std::vector<std::string>{"j220 1"}));
}

TEST_P(StoreDocuments, LeaderLoadsTheHeads) {
  Put(Job("web", 1));
  Put(Job("web", 2));
  Document host = Job("h1", 1);
  host.kind = "host";
  host.labels = {{"zone", "sh1"}};
  Put(host);
  Put(Job("old", 1));
  Commit({DropDocument{"job", "old"}});
  const auto heads = Load().documents;
  ASSERT_EQ(heads.size(), 3U);
  EXPECT_EQ(heads[0], HeadOf(host));
  EXPECT_TRUE(heads[1].dropped);
  EXPECT_EQ(heads[1].name, "old");
  EXPECT_EQ(heads[2], HeadOf(Job("web", 2)));
  EXPECT_EQ(heads[2].files, std::vector<std::string>{std::string(32, 'x')});
}

MUSTER_STORE_ADAPTERS(StoreDocuments);

}  // namespace
}  // namespace muster
