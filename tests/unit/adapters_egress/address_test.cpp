#include "adapters/egress/address.hpp"

#include <gtest/gtest.h>

namespace muster::outside {
namespace {

Address At(std::string_view text) {
  const auto address = ParseAddress(text);
  EXPECT_TRUE(address) << text;
  return address.value_or(Address{});
}

TEST(Address, ReadsBack) {
  for (const std::string text : {"10.1.2.3", "127.0.0.1", "fd00::1", "2606:4700::1111"})
    EXPECT_EQ(At(text).Text(), text);
  EXPECT_FALSE(ParseAddress("10.1.2"));
  EXPECT_FALSE(ParseAddress("example.com"));
  EXPECT_FALSE(ParseAddress(""));
}

TEST(Address, InOtherClothesIsTheSame) {
  EXPECT_EQ(At("::ffff:169.254.169.254"), At("169.254.169.254"));
  EXPECT_EQ(At("64:ff9b::a9fe:a9fe"), At("169.254.169.254"));
}

TEST(Address, PublicIsWhatTheInternetReaches) {
  for (const char* text : {"1.1.1.1", "8.8.8.8", "168.63.129.17", "172.32.0.1", "100.128.0.1",
                           "2606:4700::1111", "64:ff9b::808:808"})
    EXPECT_TRUE(IsPublic(At(text))) << text;
}

TEST(Address, SpecialIsNotPublic) {
  for (const char* text : {"0.0.0.0",
                           "10.0.0.1",
                           "100.64.0.1",
                           "127.0.0.1",
                           "127.255.255.254",
                           "169.254.169.254",
                           "172.16.0.1",
                           "172.31.255.255",
                           "192.0.0.8",
                           "192.168.1.1",
                           "198.18.0.1",
                           "203.0.113.5",
                           "224.0.0.1",
                           "255.255.255.255",
                           "::",
                           "::1",
                           "::ffff:127.0.0.1",
                           "64:ff9b::7f00:1",
                           "fe80::1",
                           "fd00::1",
                           "fc00::1",
                           "ff02::1",
                           "2001:db8::1",
                           "2002:7f00:1::",
                           "fec0::1",
                           "::127.0.0.1",
                           "168.63.129.16",
                           "::ffff:168.63.129.16"})
    EXPECT_FALSE(IsPublic(At(text))) << text;
}

TEST(Network, HoldsItsAddresses) {
  const auto network = ParseNetwork("10.20.0.0/14");
  ASSERT_TRUE(network);
  EXPECT_TRUE(network->Holds(At("10.20.0.1")));
  EXPECT_TRUE(network->Holds(At("10.23.255.255")));
  EXPECT_FALSE(network->Holds(At("10.24.0.0")));
  EXPECT_FALSE(network->Holds(At("fd00::1")));
  EXPECT_TRUE(ParseNetwork("fd00::/8")->Holds(At("fdff::1")));
  EXPECT_FALSE(ParseNetwork("fd00::/8")->Holds(At("fe80::1")));
  EXPECT_TRUE(ParseNetwork("0.0.0.0/0")->Holds(At("9.9.9.9")));
  EXPECT_FALSE(ParseNetwork("0.0.0.0/0")->Holds(At("2606:4700::1111")));
  EXPECT_TRUE(ParseNetwork("10.1.2.3")->Holds(At("10.1.2.3")));
  EXPECT_FALSE(ParseNetwork("10.1.2.3")->Holds(At("10.1.2.4")));
}

TEST(Network, RefusesNonsense) {
  for (const char* text : {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8x", "/8",
                           "fd00::/129", "::ffff:10.0.0.0/104", "example.com/8"})
    EXPECT_FALSE(ParseNetwork(text)) << text;
}

}  // namespace
}  // namespace muster::outside
