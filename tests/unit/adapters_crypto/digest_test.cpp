#include "adapters/crypto/digest.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace muster::crypto {
namespace {

TEST(Sha256, MatchesThePublishedVectors) {
  EXPECT_EQ(ToHex(Sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(ToHex(Sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256Stream, AgreesWithTheWholeAndGoesOnAfterADigest) {
  Sha256Stream stream;
  stream.Add("ab");
  EXPECT_EQ(stream.Digest(), Sha256("ab"));
  stream.Add("c");
  EXPECT_EQ(stream.Digest(), Sha256("abc"));
}

TEST(Sha256Stream, CopiesGoOnIndependently) {
  Sha256Stream first;
  first.Add("a");
  Sha256Stream second = first;
  second.Add("b");
  first.Add("c");
  EXPECT_EQ(first.Digest(), Sha256("ac"));
  EXPECT_EQ(second.Digest(), Sha256("ab"));
  second = first;
  EXPECT_EQ(second.Digest(), Sha256("ac"));
}

TEST(RandomBytes, HasTheSizeAskedForAndDiffers) {
  EXPECT_EQ(RandomBytes(0).size(), 0U);
  EXPECT_EQ(RandomBytes(32).size(), 32U);
  EXPECT_NE(RandomBytes(32), RandomBytes(32));
}

}  // namespace
}  // namespace muster::crypto
