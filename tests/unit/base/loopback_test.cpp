#include "base/loopback.hpp"

#include <string>

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(Loopback, IsTheMachineItself) {
  for (const char* host : {"127.0.0.1", "127.0.0.2", "127.255.255.254", "::1", "0:0:0:0:0:0:0:1",
                           "localhost", "LocalHost"})
    EXPECT_TRUE(IsLoopback(host)) << host;
}

TEST(Loopback, IsNoNameAndNoAddressThatOnlyLooksLikeIt) {
  for (const char* host :
       {"", "127.evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "localhost.",
        "127.1", "127.0.0.256", "0177.0.0.1", "2130706433", "::ffff:127.0.0.1", "[::1]", "::1%lo",
        "::", "0.0.0.0", "10.0.0.1", "fe80::1", " 127.0.0.1", "127.0.0.1 ", "127.0.0.1,10.0.0.1"})
    EXPECT_FALSE(IsLoopback(host)) << host;
  EXPECT_FALSE(IsLoopback(std::string_view("127.0.0.1\0x", 11)));
  EXPECT_FALSE(IsLoopback(std::string(300, '1')));
}

}  // namespace
}  // namespace muster
