#include "domain/audit_facts.hpp"
#include "unit/engine/engine_fixture.hpp"

namespace muster::engine {
namespace {

class Documents : public EngineFixture {
 protected:
  static std::shared_ptr<const Document> Doc(std::string kind, std::string name, std::string hash,
                                             Labels labels = {}) {
    auto document = std::make_shared<Document>();
    document->kind = std::move(kind);
    document->name = std::move(name);
    document->text = "text of " + hash;
    document->hash = std::move(hash);
    document->labels = std::move(labels);
    return document;
  }
  std::vector<DocumentsApplied::One> Apply(
      std::vector<std::shared_ptr<const Document>> puts,
      std::vector<std::pair<std::string, std::string>> drops = {}) {
    const auto id = Ask(ApplyDocuments{.caller = {{}, "alice", "10.0.0.1", "c"},
                                       .puts = std::move(puts),
                                       .drops = std::move(drops),
                                       .reason = "because"});
    Settle();
    return std::get<DocumentsApplied>(*replies_.at(id)).documents;
  }
  Labels LabelsOf(const std::string& name) {
    Labels labels;
    for (const auto& one : news_)
      if (const auto* news = std::get_if<HostNews>(&one);
          news != nullptr && news->host.name == name)
        labels = news->host.labels;
    return labels;
  }
};

TEST_F(Documents, VersionsGrowAndWhatSaysTheSameIsLeftAlone) {
  auto applied = Apply({Doc("job", "web", "1")});
  ASSERT_EQ(applied.size(), 1U);
  EXPECT_EQ(applied[0].fate, DocumentFate::kCreated);
  EXPECT_EQ(applied[0].version, 1U);
  applied = Apply({Doc("job", "web", "1"), Doc("job", "db", "1")});
  EXPECT_EQ(applied[0].fate, DocumentFate::kUnchanged);
  EXPECT_EQ(applied[0].version, 1U);
  EXPECT_EQ(applied[1].fate, DocumentFate::kCreated);
  Lead();
  applied = Apply({Doc("job", "web", "2")});
  EXPECT_EQ(applied[0].fate, DocumentFate::kChanged);
  EXPECT_EQ(applied[0].version, 2U);
  const auto kept = *store_.FindDocument("job", "web", 0);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->text, "text of 2");
  EXPECT_EQ(kept->by, "alice");
  EXPECT_EQ(kept->at, now_.wall);
}

TEST_F(Documents, ChangeIsAnsweredAfterItsCommit) {
  const auto id = Ask(ApplyDocuments{.caller = {}, .puts = {Doc("job", "web", "1")}, .drops = {}});
  EXPECT_FALSE(replies_.contains(id));
  Settle();
  EXPECT_TRUE(replies_.contains(id));
}

TEST_F(Documents, DeletedOneComesBackWithItsNextVersion) {
  Apply({Doc("job", "web", "1")});
  auto applied = Apply({}, {{"job", "web"}, {"job", "other"}});
  EXPECT_EQ(applied[0].fate, DocumentFate::kDeleted);
  EXPECT_EQ(applied[1].fate, DocumentFate::kMissing);
  Lead();
  applied = Apply({Doc("job", "web", "1")});
  EXPECT_EQ(applied[0].fate, DocumentFate::kCreated);
  EXPECT_EQ(applied[0].version, 2U);
}

TEST_F(Documents, EachChangeIsAudited) {
  Apply({Doc("job", "web", "1")});
  Apply({Doc("job", "web", "1")});
  Apply({}, {{"job", "web"}});
  const auto trail = *store_.ReadAudit(1, 10);
  ASSERT_EQ(trail.size(), 2U);
  EXPECT_EQ(trail[0].act, "job.apply");
  EXPECT_EQ(trail[0].object, "job web");
  EXPECT_EQ(SplitDetail(trail[0].detail).sentence, "version 1");
  EXPECT_NE(trail[0].detail.find("content_sha256"), std::string::npos);
  EXPECT_EQ(trail[0].reason, "because");
  EXPECT_EQ(trail[0].actor, "alice");
  EXPECT_EQ(trail[1].act, "job.delete");
}

TEST_F(Documents, LabelsOfAHostFollowItsDocument) {
  AddHosts(1);
  Apply({Doc("host", "h1", "1", {{"zone", "sh1"}, {"app", "web"}})});
  EXPECT_EQ(LabelsOf("h1"), (Labels{{"app", "web"}, {"zone", "sh1"}}));
  Ask(LabelHosts{
      .caller = {}, .targets = "h1", .hosts = {HostId(1)}, .set = {{"rack", "7"}}, .remove = {}});
  Apply({Doc("host", "h1", "2", {{"zone", "sh2"}})});
  EXPECT_EQ(LabelsOf("h1"), (Labels{{"rack", "7"}, {"zone", "sh2"}}));
}

TEST_F(Documents, ExpectedHostHasItsLabelsFromTheFirst) {
  Apply({Doc("host", "h1", "1", {{"zone", "sh1"}})});
  Lead();
  AddHosts(1);
  EXPECT_EQ(LabelsOf("h1"), (Labels{{"zone", "sh1"}}));
}

TEST_F(Documents, FilesOfAJobAreNamedByIt) {
  auto job = std::make_shared<Document>(*Doc("job", "web", "1"));
  job->pushes["conf"] = {{.path = "", .sha256 = std::string(32, 'x'), .size = 1}};
  Apply({job});
  const auto asks = [&] {
    const auto id = Ask(AskFile{.caller = {}, .key = "", .sha256 = std::string(32, 'x')});
    Settle();
    return std::get<FileAnswer>(*replies_.at(id)).may;
  };
  EXPECT_TRUE(asks());
  Apply({}, {{"job", "web"}});
  EXPECT_FALSE(asks());
}

TEST_F(Documents, TrailNamesTheSecretsThatAChannelSends) {
  ApplyDocuments apply{.caller = {},
                       .puts = {Doc("channel", "ops", "1"), Doc("job", "ops", "1")},
                       .drops = {},
                       .reason = {}};
  apply.channels["ops"] = {.name = "ops",
                           .way = WebhookChannel{.url = "https://away.example/T0K3N",
                                                 .headers = {{"X-S", "secret:prod.db"}}}};
  Ask(std::move(apply));
  Settle();
  const auto trail = *store_.ReadAudit(1, 10);
  ASSERT_EQ(trail.size(), 2U);
  EXPECT_EQ(trail[0].act, "channel.apply");
  EXPECT_NE(trail[0].detail.find("header X-S=secret:prod.db"), std::string::npos);
  EXPECT_NE(trail[0].detail.find("\"host\":\"away.example\""), std::string::npos);
  EXPECT_EQ(trail[0].detail.find("T0K3N"), std::string::npos);
  EXPECT_EQ(trail[1].detail.find("prod.db"), std::string::npos) << "a job of the same name";
}

}  // namespace
}  // namespace muster::engine
