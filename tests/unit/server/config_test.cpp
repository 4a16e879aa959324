#include "server/settings/config.hpp"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

namespace muster::server {
namespace {

class ConfigTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "muster-config-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Result<> Read(const std::string& text) {
    const auto file = folder_ / "musterd.yaml";
    std::ofstream(file) << text;
    return ReadConfigFile(file, config_);
  }

  std::filesystem::path folder_;
  Config config_;
};

TEST_F(ConfigTest, ReadsItsKeys) {
  ASSERT_TRUE(Read("listen: 127.0.0.1:9000\nheartbeat: 5s\ndata: /srv/muster\n"));
  EXPECT_EQ(config_.listen, "127.0.0.1:9000");
  EXPECT_EQ(config_.heartbeat, std::chrono::seconds(5));
  EXPECT_EQ(config_.data, "/srv/muster");
}

TEST_F(ConfigTest, ReadsKeysInsideKeys) {
  ASSERT_TRUE(
      Read("certificates: {agent_life: 30d, server_life: 20s}\n"
           "tls:\n  cert: /c.pem\n  key: /c.key\n"));
  EXPECT_EQ(config_.agent_life, std::chrono::hours(24 * 30));
  EXPECT_EQ(config_.server_life, std::chrono::seconds(20));
  EXPECT_EQ(config_.tls_cert, "/c.pem");
  EXPECT_EQ(config_.tls_key, "/c.key");
}

TEST_F(ConfigTest, RefusesHalfACertificateAndOddLives) {
  EXPECT_FALSE(Read("tls: {cert: /c.pem}\n"));
  EXPECT_FALSE(Read("certificates: {agent_life: 0}\n"));
  EXPECT_FALSE(Read("certificates: {life: 3d}\n"));
  EXPECT_FALSE(Read("certificates: 3d\n"));
}

TEST_F(ConfigTest, NamesHalfACertificateAmongOtherMistakes) {
  const auto read = Read("tls: {cert: /c.pem}\nlissen: x\n");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("lissen"), std::string::npos) << read.error().message;
  EXPECT_NE(read.error().message.find("\n"), std::string::npos) << read.error().message;
  EXPECT_NE(read.error().message.find("tls needs both"), std::string::npos) << read.error().message;
}

TEST_F(ConfigTest, RefusesTimesThatStopWork) {
  for (const char* text :
       {"order_life: 0s", "order_life: 999ms", "heartbeat: 0s", "heartbeat: 99ms",
        "reconnect_bound: 0s", "takeover_grace: 0s", "limits: {header_timeout: 0s}",
        "limits: {crowded_timeout: 0s}", "limits: {body_timeout: 0s}", "limits: {idle_timeout: 0s}",
        "limits: {write_timeout: 0s}", "retention: {logs: 0s}", "retention: {runs: 0s}"})
    EXPECT_FALSE(Read(text)) << text;
  EXPECT_TRUE(Read("order_life: 1s\nheartbeat: 100ms\nreconnect_bound: 1s\ntakeover_grace: 1s\n"));
}

TEST_F(ConfigTest, RefusesAFolderWithoutANameAndUrlsThatAgentsCannotUse) {
  EXPECT_FALSE(Read("data: ''\n"));
  for (const char* url : {"muster.example", "http://muster.example:8440", "https://", "ftp://a"})
    EXPECT_FALSE(Read(std::string("public_url: ") + url + "\n")) << url;
  EXPECT_TRUE(Read("public_url: ''\n"));
  EXPECT_TRUE(Read("public_url: https://muster.example\n"));
}

TEST_F(ConfigTest, ReadsRetentionAndDisk) {
  ASSERT_TRUE(Read("retention: {logs: 14d, runs: forever}\ndisk:\n  stop_runs_below: 500MB\n"));
  EXPECT_EQ(config_.retention.logs, std::chrono::hours(14 * 24));
  EXPECT_EQ(config_.retention.runs, Duration(0));
  EXPECT_EQ(config_.retention.audit, std::chrono::hours(400 * 24));
  EXPECT_EQ(config_.disk_floor, "500MB");
  EXPECT_NE(settings::Print(Describe(config_)).find("forever"), std::string::npos);
}

TEST_F(ConfigTest, NamesLineAndColumnOfAnUnknownKeyInsideAnother) {
  const auto read = Read("retention:\n  lochs: 14d\n");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("musterd.yaml:2:3"), std::string::npos)
      << read.error().message;
  EXPECT_FALSE(Read("retention: 14d\n"));
  EXPECT_FALSE(Read("disk: {stop_runs_below: much}\n"));
}

TEST_F(ConfigTest, NamesLineAndColumnOfAnUnknownKey) {
  const auto read = Read("listen: 127.0.0.1:9000\nlissen: x\n");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("musterd.yaml:2:1"), std::string::npos)
      << read.error().message;
  EXPECT_NE(read.error().message.find("lissen"), std::string::npos);
}

TEST_F(ConfigTest, RefusesWhatIsNotAMapOrNotYaml) {
  EXPECT_FALSE(Read("- a\n- b\n"));
  EXPECT_FALSE(Read("listen: [\n"));
  EXPECT_FALSE(Read("heartbeat: soon\n"));
  EXPECT_FALSE(Read("listen: {a: b}\n"));
}

TEST_F(ConfigTest, ReadsLimits) {
  ASSERT_TRUE(
      Read("limits:\n  max_body: 1MiB\n  max_connections_per_address: 7\n"
           "  header_timeout: 2s\n  failures_per_minute: 3\nlisten: 127.0.0.1:1\n"));
  EXPECT_EQ(config_.limits.max_body, 1U << 20);
  EXPECT_EQ(config_.limits.max_connections_per_address, 7U);
  EXPECT_EQ(config_.limits.header_timeout, std::chrono::seconds(2));
  EXPECT_EQ(config_.failures_per_minute, 3U);
  EXPECT_EQ(config_.listen, "127.0.0.1:1");
  EXPECT_TRUE(Read("limits:\n"));
}

TEST_F(ConfigTest, NamesTheLineOfAWrongLimit) {
  const auto read = Read("limits:\n  max_boddy: 1\n");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("musterd.yaml:2:3"), std::string::npos)
      << read.error().message;
  for (const char* limits : {"5", "[1]", "{max_body: 0}", "{max_body: 2GiB}", "{max_handshakes: 0}",
                             "{max_handshakes: -1}", "{max_handshakes: 99999999999}",
                             "{idle_timeout: soon}", "{max_body: {a: b}}"})
    EXPECT_FALSE(Read(std::string("limits: ") + limits)) << limits;
}

TEST_F(ConfigTest, AnEmptyFileChangesNothing) { EXPECT_TRUE(Read("")); }

TEST_F(ConfigTest, SaysThatAFileIsMissing) {
  EXPECT_EQ(ReadConfigFile(folder_ / "none.yaml", config_).error().code, ErrorCode::kNotFound);
}

TEST(ParseListen, ReadsAddressAndPort) {
  EXPECT_EQ(ParseListen("127.0.0.1:8440")->port, 8440);
  EXPECT_EQ(ParseListen("[::1]:80")->host, "::1");
  EXPECT_EQ(ParseListen(":8440")->host, "0.0.0.0");
  for (const char* text : {"", "localhost", "1.2.3.4:", "1.2.3.4:99999", "1.2.3.4:x"})
    EXPECT_FALSE(ParseListen(text)) << text;
}

}  // namespace
}  // namespace muster::server
