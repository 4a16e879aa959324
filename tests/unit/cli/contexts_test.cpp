#include "cli/client/contexts.hpp"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "cli/client/connection.hpp"
#include "cli/client/fingerprint.hpp"
#include "support/temp_folder.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

Contexts Two(const fs::path& folder) {
  auto contexts = Contexts::Load(folder);
  EXPECT_TRUE(contexts);
  EXPECT_TRUE(contexts->Put({"prod", "https://prod:8440", "secret-prod", {}}, "PEM of prod"));
  EXPECT_TRUE(contexts->Put({"lab", "https://lab:8440", "secret-lab", {}}, ""));
  EXPECT_TRUE(contexts->Use("prod"));
  return *contexts;
}

mode_t ModeOf(const fs::path& path) {
  struct stat info{};
  EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777;
}

TEST(Contexts, ComeBackAsTheyWereSaved) {
  const TempFolder folder;
  const auto place = folder.Path() / "config/muster";
  ASSERT_TRUE(Two(place).Save());
  const auto again = Contexts::Load(place);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->Current(), "prod");
  ASSERT_EQ(again->All().size(), 2U);
  const auto* prod = again->Find("prod");
  ASSERT_NE(prod, nullptr);
  EXPECT_EQ(prod->server, "https://prod:8440");
  EXPECT_EQ(prod->token, "secret-prod");
  EXPECT_EQ(again->CaPath(*prod), (place / "prod.ca.pem").string());
  EXPECT_EQ(again->CaPath(*again->Find("lab")), "");
}

TEST(Contexts, AreReadableByTheirOwnerOnly) {
  const TempFolder folder;
  const auto place = folder.Path() / "muster";
  ASSERT_TRUE(Two(place).Save());
  EXPECT_EQ(ModeOf(place), 0700U);
  EXPECT_EQ(ModeOf(place / "contexts.yaml"), 0600U);
  EXPECT_EQ(ModeOf(place / "prod.ca.pem"), 0600U);
}

TEST(Contexts, RefuseAFileThatOthersMayRead) {
  const TempFolder folder;
  ASSERT_TRUE(Two(folder.Path()).Save());
  ASSERT_EQ(chmod((folder.Path() / "contexts.yaml").c_str(), 0644), 0);
  const auto again = Contexts::Load(folder.Path());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kInvalid);
}

TEST(Contexts, SayWhenTheFileIsDamaged) {
  const TempFolder folder;
  ASSERT_TRUE(Two(folder.Path()).Save());
  for (const auto* text :
       {"contexts: [{name: [", "contexts: [{name: {a: b}}]", "contexts: 7\n- x"}) {
    std::ofstream(folder.Path() / "contexts.yaml") << text;
    const auto again = Contexts::Load(folder.Path());
    ASSERT_FALSE(again) << text;
    EXPECT_EQ(again.error().code, ErrorCode::kInvalid);
  }
}

TEST(Contexts, NoFileIsNoContexts) {
  const TempFolder folder;
  const auto contexts = Contexts::Load(folder.Path() / "nothing");
  ASSERT_TRUE(contexts);
  EXPECT_TRUE(contexts->All().empty());
}

TEST(Contexts, ForgetEverythingOfTheRemoved) {
  const TempFolder folder;
  auto contexts = Two(folder.Path());
  ASSERT_TRUE(contexts.Remove("prod"));
  EXPECT_EQ(contexts.Current(), "");
  EXPECT_EQ(contexts.Find("prod"), nullptr);
  EXPECT_FALSE(fs::exists(folder.Path() / "prod.ca.pem"));
  const auto twice = contexts.Remove("prod");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, ErrorCode::kNotFound);
}

TEST(Contexts, NamesCannotLeaveTheFolder) {
  const TempFolder folder;
  auto contexts = Two(folder.Path());
  for (const auto* name : {"", "../x", "a/b", ".hidden", "-x", "a b", "ä"}) {
    const auto put = contexts.Put({name, "https://x:8440", "t", {}}, "PEM");
    ASSERT_FALSE(put) << name;
    EXPECT_EQ(put.error().code, ErrorCode::kInvalid);
  }
}

TEST(ContextName, IsTheHostAndAnUnusualPort) {
  EXPECT_EQ(ContextNameFor("https://muster.example"), "muster.example");
  EXPECT_EQ(ContextNameFor("https://muster.example:8440"), "muster.example");
  EXPECT_EQ(ContextNameFor("https://10.0.0.5:9000"), "10.0.0.5-9000");
}

TEST(Connect, TakesTheContextInUse) {
  const TempFolder folder;
  const auto got = Connect({}, {}, Two(folder.Path()));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->context, "prod");
  EXPECT_EQ(got->server, "https://prod:8440");
  EXPECT_EQ(got->token, "secret-prod");
  EXPECT_EQ(got->ca_file, (folder.Path() / "prod.ca.pem").string());
}

TEST(Connect, FlagsWinOverEnvironmentWinsOverContext) {
  const TempFolder folder;
  const auto contexts = Two(folder.Path());
  ConnectionOptions environment;
  environment.token = "from-environment";
  auto got = Connect({}, environment, contexts);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->server, "https://prod:8440");
  EXPECT_EQ(got->token, "from-environment");
  ConnectionOptions flags;
  flags.token_file = "file";
  got = Connect(flags, environment, contexts);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->token, "");
  EXPECT_EQ(got->token_file, "file");
}

TEST(Connect, AnEmptyVariableNeverMeansTheContextsToken) {
  const TempFolder folder;
  const auto contexts = Two(folder.Path());
  ConnectionOptions environment;
  environment.empty_variable = "MUSTER_TOKEN";
  const auto got = Connect({}, environment, contexts);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::kInvalid);
  ConnectionOptions flags;
  flags.token = "by-flag";
  EXPECT_TRUE(Connect(flags, environment, contexts));
  ConnectionOptions named;
  named.context = "lab";
  EXPECT_TRUE(Connect(named, environment, contexts));
}

TEST(Connect, SaysWhetherTheCaIsTheContexts) {
  const TempFolder folder;
  const auto contexts = Two(folder.Path());
  EXPECT_TRUE(Connect({}, {}, contexts)->saved_ca);
  ConnectionOptions flags;
  flags.ca_file = "other.pem";
  EXPECT_FALSE(Connect(flags, {}, contexts)->saved_ca);
}

TEST(Connect, AContextsTokenGoesToItsOwnServerOnly) {
  const TempFolder folder;
  ConnectionOptions elsewhere;
  elsewhere.server = "https://other:8440";
  for (const bool by_flag : {true, false}) {
    const auto got = Connect(by_flag ? elsewhere : ConnectionOptions(),
                             by_flag ? ConnectionOptions() : elsewhere, Two(folder.Path()));
    ASSERT_TRUE(got);
    EXPECT_EQ(got->context, "");
    EXPECT_EQ(got->server, "https://other:8440");
    EXPECT_EQ(got->token, "");
    EXPECT_EQ(got->ca_file, "");
  }
}

TEST(Connect, AContextNamedByFlagWinsOverEveryVariable) {
  const TempFolder folder;
  ConnectionOptions flags;
  flags.context = "lab";
  const auto got =
      Connect(flags, {"https://other:8440", "t", "f", "ca", "prod"}, Two(folder.Path()));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->context, "lab");
  EXPECT_EQ(got->server, "https://lab:8440");
  EXPECT_EQ(got->token, "secret-lab");
  EXPECT_EQ(got->ca_file, "");
}

TEST(Connect, AVariableNamesAContextToo) {
  const TempFolder folder;
  ConnectionOptions environment;
  environment.context = "lab";
  const auto got = Connect({}, environment, Two(folder.Path()));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->context, "lab");
  environment.context = "nowhere";
  const auto unknown = Connect({}, environment, Two(folder.Path()));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
}

TEST(Connect, WithoutAnythingItIsThisMachine) {
  const TempFolder folder;
  const auto got = Connect({}, {}, *Contexts::Load(folder.Path()));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->server, kDefaultServer);
  EXPECT_EQ(got->context, "");
}

TEST(Fingerprint, IsReadInBothForms) {
  const std::string hex(64, 'a');
  const auto shown = ShowFingerprint(hex);
  EXPECT_EQ(shown.substr(0, 6), "AA:AA:");
  EXPECT_EQ(*ParseFingerprint(shown), hex);
  EXPECT_EQ(*ParseFingerprint(hex), hex);
  for (const auto* bad : {"", "AA:BB", "zz"}) EXPECT_FALSE(ParseFingerprint(bad)) << bad;
}

}  // namespace
}  // namespace muster::cli
