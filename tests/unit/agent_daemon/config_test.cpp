#include "agent/daemon/config.hpp"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

TEST(AgentConfig, ServersAreHttpsUrls) {
  Config config;
  const auto table = Describe(config);
  for (const char* servers : {"muster.example", "muster.example:8440", "http://muster.example",
                              "https://", "https://a, b"})
    EXPECT_FALSE(settings::Set(table, "server", {servers})) << servers;
  EXPECT_EQ(config.server, "");
  EXPECT_TRUE(settings::Set(table, "server", {"https://a:8440, https://[::1]:8441"}));
  EXPECT_TRUE(settings::Set(table, "server", {""}));
}

}  // namespace
}  // namespace muster::agent
