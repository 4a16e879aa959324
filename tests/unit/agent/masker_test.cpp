#include "agent/shim/masker.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace muster::agent {
namespace {

std::string Mask(const std::vector<std::string>& secrets, const std::vector<std::string>& pieces) {
  Masker masker(secrets);
  std::string out;
  for (const auto& piece : pieces) masker.Feed(piece, out);
  masker.Finish(out);
  return out;
}

// The meaning, without streams: at each place the longest secret that stands there.
std::string Expected(const std::vector<std::string>& secrets, const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t longest = 0;
    for (const auto& secret : secrets)
      if (!secret.empty() && text.compare(at, secret.size(), secret) == 0)
        longest = std::max(longest, secret.size());
    if (longest == 0) {
      out += text[at++];
    } else {
      out += "***";
      at += longest;
    }
  }
  return out;
}

TEST(Masker, ReplacesEachSecret) {
  EXPECT_EQ(Mask({"abc", "xyz"}, {"1abc2xyz3abcabc"}), "1***2***3******");
}

TEST(Masker, FindsASecretInPieces) {
  EXPECT_EQ(Mask({"secret"}, {"a s", "ec", "r", "et b"}), "a *** b");
}

TEST(Masker, GivesBackWhatOnlyBeganLikeASecret) {
  EXPECT_EQ(Mask({"secret"}, {"sec", "ond sec"}), "second sec");
}

TEST(Masker, TakesTheLongestAtAPlace) {
  EXPECT_EQ(Mask({"ab", "abcd"}, {"abc", "abc", "d"}), "***c***");
}

TEST(Masker, HoldsBackNoMoreThanNeeded) {
  Masker masker({"secret"});
  std::string out;
  masker.Feed("plain text, then sec", out);
  EXPECT_EQ(out, "plain text, then ");
}

TEST(Masker, LeavesOutTheFolderOfTheTask) {
  Masker masker({"tasks"}, "/data/tasks/r1");
  std::string out;
  for (const std::string_view piece :
       {"/data/tas", "ks/r1/scr", "ipt: 1: cannot create /data/tasks/r1/out",
        "put/y: Not a directory; /data/tasks/r12/output /data/tasks"})
    masker.Feed(piece, out);
  masker.Finish(out);
  EXPECT_EQ(out,
            "script: 1: cannot create output/y: Not a directory; /data/***/r12/output /data/***");
}

TEST(Masker, IgnoresEmptySecrets) {
  EXPECT_TRUE(Masker({"", ""}).Idle());
  EXPECT_EQ(Mask({""}, {"abc"}), "abc");
}

TEST(Masker, WorksOnAnyBytes) {
  EXPECT_EQ(Mask({std::string("\0\377", 2)}, {std::string("a\0", 2), std::string("\377z", 2)}),
            "a***z");
}

RC_GTEST_PROP(MaskerProperty, PiecesDoNotMatter, ()) {
  // Two letters only, so that secrets overlap, repeat and contain each other.
  const auto word = rc::gen::container<std::string>(rc::gen::element('a', 'b'));
  const auto secrets = *rc::gen::container<std::vector<std::string>>(word);
  const auto pieces = *rc::gen::container<std::vector<std::string>>(word);
  std::string text;
  for (const auto& piece : pieces) text += piece;
  RC_ASSERT(Mask(secrets, pieces) == Expected(secrets, text));
}

}  // namespace
}  // namespace muster::agent
