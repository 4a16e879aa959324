#include "server/api/file_request.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/artifacts/memory_artifacts.hpp"
#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"
#include "server/planning/pushed_files.hpp"

namespace muster::server::api {
namespace {

using testing::HasSubstr;

boost::json::object Json(std::string text) {
  const std::string hash = ToHex(std::string(32, '\x11'));
  for (auto at = text.find("HASH"); at != std::string::npos; at = text.find("HASH"))
    text.replace(at, 4, hash);
  return boost::json::parse(text).as_object();
}

TEST(ReadPush, TakesASingleFile) {
  const auto push = ReadPush(Json(
      R"({"files":[{"sha256":"HASH","size":5,"mode":"0600"}],"to":"/var/tmp/","name":"k.deb",
          "mode":"0644","owner":"root","rate":1048576})"));
  ASSERT_TRUE(push) << push.error().message;
  EXPECT_EQ(*push, (FilePush{.files = {{"", std::string(32, '\x11'), 5, 0600, false}},
                             .to = "/var/tmp/",
                             .name = "k.deb",
                             .mode = 0644,
                             .owner = "root",
                             .rate = 1 << 20}));
  Command command;
  command.push = std::make_shared<const FilePush>(*push);
  EXPECT_EQ(FileTitle(command), "push k.deb to /var/tmp/");
}

TEST(ReadPush, TakesFoldersAndContent) {
  EXPECT_TRUE(ReadPush(Json(
      R"({"files":[{"folder":true,"mode":"0755"},{"path":"a/b","sha256":"HASH","size":1}],
          "tree":true,"to":"/srv","name":"app"})")));
  const auto text = ReadPush(Json(R"({"content":"","to":"/etc/motd"})"));
  ASSERT_TRUE(text) << text.error().message;
  Command command;
  command.push = std::make_shared<const FilePush>(*text);
  EXPECT_EQ(FileTitle(command), "push text to /etc/motd");
}

TEST(ReadPush, SaysWhichFieldIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"to":"/a"})", "push.files"},
      {R"({"content":"x","to":"a"})", "push.to"},
      {R"({"content":"x","to":"/a","mode":"9"})", "push.mode"},
      {R"({"content":"x","to":"/a","mode":"77777"})", "push.mode"},
      {R"({"content":"x","to":"/a","rate":5})", "push.rate"},
      {R"({"content":"x","to":"/a","colour":5})", "unknown field 'push.colour'"},
      {R"({"content":"x","to":"/a/"})", "push.name"},
      {R"({"files":[{"sha256":"abc","size":5}],"to":"/a"})", "push.files[0].sha256"},
      {R"({"files":[{"size":5}],"to":"/a"})", "push.files[0].sha256"},
      {R"({"files":[{"sha256":"HASH","path":"x"}],"to":"/a"})", "push.files"},
      {R"({"files":[{"sha256":"HASH"},{"sha256":"HASH"}],"to":"/a"})", "push.tree"},
      {R"({"files":[{"sha256":"HASH","path":"../x"}],"tree":true,"to":"/a"})",
       "push.files[0].path"},
      {R"({"files":[{"sha256":"HASH"}],"content":"x","to":"/a"})", "push.files"},
      {R"({"files":[5],"to":"/a"})", "push.files[0]"},
  };
  for (const auto& [text, said] : cases) {
    const auto push = ReadPush(Json(text));
    ASSERT_FALSE(push) << text;
    EXPECT_EQ(push.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(push.error().message, HasSubstr(said));
  }
}

TEST(ReadPush, RefusesMoreFilesThanFitAnOrder) {
  boost::json::array files;
  for (int i = 0; i < 20'000; ++i)
    files.push_back({{"path", fmt::format("file-{}", i)}, {"sha256", std::string(64, 'a')}});
  const auto push = ReadPush({{"files", files}, {"tree", true}, {"to", "/a"}});
  ASSERT_FALSE(push);
  EXPECT_THAT(push.error().message, HasSubstr("archive"));
}

TEST(ReadPull, TakesPaths) {
  const auto pull = ReadPull(Json(R"({"paths":["/a","/b/*"],"max_bytes":5,"rate":20000})"));
  ASSERT_TRUE(pull) << pull.error().message;
  EXPECT_EQ(*pull, (FilePull{.paths = {"/a", "/b/*"}, .max_bytes = 5, .rate = 20000}));
  Command command;
  command.pull = std::make_shared<const FilePull>(*pull);
  EXPECT_EQ(FileTitle(command), "pull /a and 1 more");
  boost::json::object view;
  PutFileView(command, view);
  EXPECT_EQ(boost::json::serialize(view),
            R"({"pull":{"paths":["/a","/b/*"],"max_bytes":5,"rate":20000}})");
  for (const auto* text : {R"({})", R"({"paths":[]})", R"({"paths":["a"]})", R"({"paths":[5]})",
                           R"({"paths":["/a"],"rate":1})", R"({"paths":["/a"],"x":1})"})
    EXPECT_FALSE(ReadPull(Json(text))) << text;
}

TEST(CheckArtifacts, NamesWhatIsMissing) {
  class NoClock final : public Clock {
   public:
    Now Read() const override { return {}; }
  } clock;
  MemoryArtifacts store(clock);
  auto upload = store.Begin(crypto::Sha256("x"), "token op", 1, 0);
  ASSERT_TRUE((*upload)->Append("x"));
  ASSERT_TRUE((*upload)->Finish());
  FilePush push{
      .files = {{.folder = true}, {.path = "x", .sha256 = crypto::Sha256("x"), .size = 1}},
      .tree = true};
  EXPECT_TRUE(CheckArtifacts(push, store));
  push.files.push_back({.path = "missing", .sha256 = crypto::Sha256("y"), .size = 1});
  const auto missing = CheckArtifacts(push, store);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("missing is not in the artifact store"));
  push.files.pop_back();
  push.files[1].size = 2;
  EXPECT_FALSE(CheckArtifacts(push, store));
}

}  // namespace
}  // namespace muster::server::api
