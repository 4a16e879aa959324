#include "domain/pull_paths.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(MatchesName, KnowsStarsAndQuestionMarks) {
  EXPECT_TRUE(MatchesName("*", "a"));
  EXPECT_TRUE(MatchesName("a*c", "abbbc"));
  EXPECT_TRUE(MatchesName("a*b*c", "aXbYbZc"));
  EXPECT_TRUE(MatchesName("?.log", "1.log"));
  EXPECT_TRUE(MatchesName("a*", "a"));
  EXPECT_TRUE(MatchesName("[x]", "[x]"));
  EXPECT_FALSE(MatchesName("a*c", "abbb"));
  EXPECT_FALSE(MatchesName("?", ""));
  EXPECT_FALSE(MatchesName("?", "ab"));
  EXPECT_FALSE(MatchesName("*", ".hidden"));
  EXPECT_TRUE(MatchesName(".*", ".hidden"));
}

TEST(IsAskedFor, TakesThePathItselfAndWhatIsBelowIt) {
  const std::vector<std::string> asked = {"/srv/app", "/var/log/*.log", "/etc/?a*/conf/"};
  for (const char* path : {"/srv/app", "/srv/app/x", "/srv/app/inner/.x", "/var/log/a.log",
                           "/var/log/b.log/below", "/etc/nab/conf", "/etc/nab/conf/x"})
    EXPECT_TRUE(IsAskedFor(asked, path)) << path;
  for (const char* path :
       {"/srv", "/srv/app2", "/srv/app2/x", "/srv/ap", "/var/log/a.log.gz", "/var/log/sub/a.log",
        "/var/log/.a.log", "/etc/nb/conf/x", "/etc/nab/other", "/", ""})
    EXPECT_FALSE(IsAskedFor(asked, path)) << path;
}

TEST(IsAskedFor, KnowsNamesThatBeginWithADotOnlyWhenTheyAreWritten) {
  EXPECT_TRUE(IsAskedFor(std::vector<std::string>{"/home/.config"}, "/home/.config/x"));
  EXPECT_TRUE(IsAskedFor(std::vector<std::string>{"/home/.c*"}, "/home/.config"));
  EXPECT_FALSE(IsAskedFor(std::vector<std::string>{"/home/*"}, "/home/.config"));
}

TEST(IsAskedFor, RefusesPathsThatAreNotPlain) {
  const std::vector<std::string> all = {"/"};
  EXPECT_TRUE(IsAskedFor(all, "/a/b"));
  for (const char* path : {"/../x", "/a/../../x", "relative", "/a//b", "/", "/a/", "/a/.", ""})
    EXPECT_FALSE(IsAskedFor(all, path)) << path;
}

}  // namespace
}  // namespace muster
