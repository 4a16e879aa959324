#include <gmock/gmock.h>

#include "domain/pulled_line.hpp"
#include "unit/agent_transfer/fixture.hpp"

namespace muster::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Pull : public TransferTest {
 protected:
  std::vector<PulledLine> Lines(const Outcome& outcome) {
    std::vector<PulledLine> lines;
    for (const auto line : Split(outcome.out, '\n'))
      if (const auto parsed = ParsePulledLine(line)) lines.push_back(*parsed);
    return lines;
  }
  std::vector<std::string> Paths(const Outcome& outcome) {
    std::vector<std::string> paths;
    for (const auto& line : Lines(outcome)) paths.push_back(line.path);
    return paths;
  }
  std::string Kept(const std::string& sha256) {
    auto reader = artifacts_.Open(sha256);
    return reader ? *(*reader)->Read(0, 1 << 30) : "not there";
  }
};

TEST_F(Pull, BringsAFileIntoTheStore) {
  const std::string content = Pattern(3'000'000);
  Write(Place("log"), content);
  ::chmod(Place("log").c_str(), 0640);
  auto outcome = Run(PullOf({Place("log")}));
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out,
            fmt::format("{}\t{}\t3000000\t0640\n", Place("log"), ToHex(crypto::Sha256(content))));
  EXPECT_TRUE(Kept(crypto::Sha256(content)) == content);
  ForgetAsked();
  outcome = Run(PullOf({Place("log")}));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(Asked(), ElementsAre("HEAD ")) << "what the server has is not sent again";
}

TEST_F(Pull, TakesFoldersAndWildcards) {
  for (const char* name : {"b.log", "a.log", ".hidden.log", "c.txt", "sub/d.log", "sub/in/e"}) {
    std::filesystem::create_directories(std::filesystem::path(Place(name)).parent_path());
    Write(Place(name), name);
  }
  EXPECT_THAT(Paths(Run(PullOf({Place("*.log")}))), ElementsAre(Place("a.log"), Place("b.log")));
  EXPECT_THAT(Paths(Run(PullOf({Place("?.txt"), Place("*/d.log")}))),
              ElementsAre(Place("c.txt"), Place("sub/d.log")));
  EXPECT_THAT(Paths(Run(PullOf({Place("sub")}))),
              ElementsAre(Place("sub/d.log"), Place("sub/in/e")));
  EXPECT_THAT(Paths(Run(PullOf({Place("a.log"), Place("a*")}))), ElementsAre(Place("a.log")));
}

TEST_F(Pull, NamesWhatIsMissingAndBringsTheRest) {
  Write(Place("there"), "x");
  const auto outcome = Run(PullOf({Place("gone"), Place("there"), Place("*.nothing")}));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr(Place("gone") + ": there is no such file"));
  EXPECT_THAT(outcome.err, HasSubstr(Place("*.nothing") + ": nothing on this host matches"));
  EXPECT_THAT(Paths(outcome), ElementsAre(Place("there")));
}

TEST_F(Pull, LeavesOutWhatIsVeryDeepAndBringsTheRest) {
  std::string path = Place("deep");
  std::string last;  // that is taken
  for (int depth = 0; depth <= 257; ++depth) {
    if (depth == 256) last = path;
    std::filesystem::create_directory(path);
    Write(path + "/file", "x");
    if (depth < 257) path += "/d";
  }
  Write(Place("deep/z"), "x");
  const auto outcome = Run(PullOf({Place("deep")}));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr(path + ": more than 256 folders deep"));
  EXPECT_THAT(Paths(outcome), testing::Contains(last + "/file"));
  EXPECT_THAT(Paths(outcome), testing::Contains(Place("deep/z")));
  EXPECT_EQ(Paths(outcome).size(), 258U);
  EXPECT_THAT(Paths(Run(PullOf({path}))), ElementsAre(path + "/file"));
}

TEST_F(Pull, DoesNotFollowLinksOutOfAFolder) {
  std::filesystem::create_directories(Place("in"));
  Write(Place("secret"), "secret");
  std::filesystem::create_symlink(Place("secret"), Place("in/link"));
  std::filesystem::create_directory_symlink("/etc", Place("in/etc"));
  ASSERT_EQ(::mkfifo(Place("in/pipe").c_str(), 0600), 0);
  Write(Place("in/file"), "file");
  const auto outcome = Run(PullOf({Place("in")}));
  EXPECT_THAT(Paths(outcome), ElementsAre(Place("in/file")));
  EXPECT_THAT(outcome.err, HasSubstr(Place("in/link") + ": a symbolic link; not followed"));
  EXPECT_THAT(outcome.err, HasSubstr(Place("in/etc") + ": a symbolic link; not followed"));
  EXPECT_THAT(outcome.err, HasSubstr(Place("in/pipe") + ": neither a file nor a folder"));
  EXPECT_THAT(Paths(Run(PullOf({Place("in/link")}))), ElementsAre(Place("in/link")))
      << "one that was named itself is followed";
}

TEST_F(Pull, CarriesHostileNames) {
  const std::string name = "a\nb\tc\\d\xff\x1b[31m\u00e4";
  Write(Place(name), "x");
  const auto outcome = Run(PullOf({Place("*")}));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 1);
  EXPECT_TRUE(IsUtf8(outcome.out));
  EXPECT_THAT(Paths(outcome), ElementsAre(Place(name)));
}

TEST_F(Pull, BringsTheEmptyFile) {
  Write(Place("empty"), "");
  const auto outcome = Run(PullOf({Place("empty")}));
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(Kept(crypto::Sha256("")), "");
}

TEST_F(Pull, FailsPastItsBound) {
  Write(Place("a"), std::string(600, 'a'));
  Write(Place("b"), std::string(600, 'b'));
  Command command;
  command.pull =
      std::make_shared<const FilePull>(FilePull{.paths = {Place("*")}, .max_bytes = 1000});
  const auto outcome = Run(command);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(Paths(outcome), ElementsAre(Place("a")));
  EXPECT_THAT(outcome.err, HasSubstr("more than the"));
}

TEST_F(Pull, GoesOnWithAnUploadThatWasCut) {
  const std::string content = Pattern(1'000'000);
  Write(Place("log"), content);
  {
    auto upload = artifacts_.Begin(crypto::Sha256(content), "host " + HostKey(), content.size(), 0);
    ASSERT_TRUE((*upload)->Append(content.substr(0, 400'000)));
  }
  EXPECT_EQ(Run(PullOf({Place("log")})).code, 0);
  EXPECT_THAT(Asked(), ElementsAre("HEAD ", "PUT bytes 400000-999999/1000000"));
  EXPECT_TRUE(Kept(crypto::Sha256(content)) == content);
}

TEST_F(Pull, DoesNotWaitForAnotherThatSendsTheSame) {
  Write(Place("log"), "content");
  const std::string hash = crypto::Sha256("content");
  auto other = artifacts_.Begin(hash, "host another", 7, 0);
  ASSERT_TRUE(other);
  ASSERT_TRUE((*other)->Append("wrong"));
  EXPECT_EQ(Run(PullOf({Place("log")})).code, 0);
  EXPECT_THAT(Asked(), ElementsAre("HEAD ", "PUT bytes 0-6/7"));
  EXPECT_EQ(Kept(hash), "content");
}

// A connection of before may still be open on the server.
TEST_F(Pull, WaitsWhileItsOwnUploadOfBeforeIsOpen) {
  Write(Place("log"), "content");
  const std::string hash = crypto::Sha256("content");
  auto other = artifacts_.Begin(hash, "host " + HostKey(), 7, 0);
  ASSERT_TRUE(other);
  const auto whole = serve_;
  Serve([&](net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange) {
    if (asked_.size() == 3) {  // HEAD, PUT, and now HEAD again
      EXPECT_TRUE((*other)->Append("content"));
      EXPECT_TRUE((*other)->Finish());
    }
    whole(std::move(request), std::move(exchange));
  });
  EXPECT_EQ(Run(PullOf({Place("log")})).code, 0);
  EXPECT_THAT(Asked(), ElementsAre("HEAD ", "PUT bytes 0-6/7", "HEAD "));
  Stop();
}

TEST_F(Pull, IsRefusedWithoutAnOpenTask) {
  may_get_ = false;
  may_put_ = false;
  Write(Place("log"), "content");
  const auto outcome = Run(PullOf({Place("log")}));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(Paths(outcome), IsEmpty());
}

TEST_F(Pull, ReadsWithTheRightsOfTheTasksUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  ::chmod(folder_.Path().c_str(), 0755);
  Write(Place("secret"), "secret");
  ::chmod(Place("secret").c_str(), 0600);
  Command command = PullOf({Place("secret")});
  command.user = "nobody";
  const auto outcome = Run(command);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace muster::agent
