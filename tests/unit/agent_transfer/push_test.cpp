#include <csignal>
#include <fcntl.h>

#include <gmock/gmock.h>

#include "unit/agent_transfer/fixture.hpp"

namespace muster::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Push : public TransferTest {};

TEST_F(Push, PutsAFileInItsPlace) {
  const std::string content = Pattern(3'000'000);
  const Command command =
      PushOf({.files = {Keep(content)}, .to = Place("kernel.deb"), .mode = 0750});
  auto outcome = Run(command);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, Place("kernel.deb") + ": 2.9 MB, new\n");
  EXPECT_TRUE(Text(Place("kernel.deb")) == content);
  EXPECT_EQ(ModeOf(Place("kernel.deb")), 0750U);
  EXPECT_TRUE(std::filesystem::is_empty(Data() / "files"));
  outcome = Run(command);
  EXPECT_EQ(outcome.out, Place("kernel.deb") + ": 2.9 MB, unchanged\n");
  EXPECT_EQ(Asked().size(), 1U) << "what is there is not fetched";
}

TEST_F(Push, ReplacesAnOldFileAndSetsItsModeRight) {
  Write(Place("a"), "old");
  auto outcome = Run(PushOf({.files = {Keep("new", "", 0600)}, .to = Place("a")}));
  EXPECT_EQ(outcome.out, Place("a") + ": 3 B, replaced\n");
  EXPECT_EQ(Text(Place("a")), "new");
  EXPECT_EQ(ModeOf(Place("a")), 0600U);
  outcome = Run(PushOf({.files = {Keep("new", "", 0755)}, .to = Place("a")}));
  EXPECT_EQ(outcome.out, Place("a") + ": 3 B, unchanged\n");
  EXPECT_EQ(ModeOf(Place("a")), 0755U);
}

TEST_F(Push, ASymbolicLinkBecomesAFileAndWhatItLedToStays) {
  Write(Place("target"), "precious");
  std::filesystem::create_symlink(Place("target"), Place("link"));
  EXPECT_EQ(Run(PushOf({.files = {Keep("new")}, .to = Place("link")})).code, 0);
  EXPECT_EQ(Text(Place("target")), "precious");
  EXPECT_FALSE(std::filesystem::is_symlink(Place("link")));
  EXPECT_EQ(Text(Place("link")), "new");
}

TEST_F(Push, GoesToAServerThatAnswers) {
  const std::string content = Pattern(100'000);
  Identity who;
  who.server = "https://127.0.0.1:1";
  who.servers = fmt::format("https://127.0.0.1:1,https://127.0.0.1:{},https://localhost:1", port_);
  // Each seed has an order of its own; with ten, some begin with a server that is away.
  for (int seed = 0; seed < 10; ++seed) {
    who.store = std::to_string(seed);
    Write(Data() / "agent.conf", FormatIdentity(who));
    const std::string name = "file" + who.store;
    const auto outcome = Run(PushOf({.files = {Keep(content)}, .to = Place(name)}));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(Text(Place(name)) == content);
  }
}

TEST_F(Push, KeepsItsNameInAFolder) {
  const auto outcome =
      Run(PushOf({.files = {Keep("text")}, .to = Place() + "/", .name = "kernel.deb"}));
  EXPECT_EQ(outcome.out, Place("kernel.deb") + ": 4 B, new\n");
}

TEST_F(Push, WritesContent) {
  const Command command = PushOf({.content = "hello\n", .to = Place("motd")});
  EXPECT_EQ(Run(command).out, Place("motd") + ": 6 B, new\n");
  EXPECT_EQ(Text(Place("motd")), "hello\n");
  EXPECT_EQ(Run(command).out, Place("motd") + ": 6 B, unchanged\n");
  EXPECT_THAT(Asked(), testing::IsEmpty());
}

TEST_F(Push, MakesAFolderWithAllItsFiles) {
  FilePush push{.files = {Folder("", 0700), Folder("bin"), Keep("#!/bin/sh\n", "bin/run", 0755),
                          Keep("", "empty"), Keep("deep", "bin/deep")},
                .tree = true,
                .to = Place() + "/",
                .name = "app"};
  const auto outcome = Run(PushOf(push));
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out, fmt::format("{0}/: folder, new\n{0}/bin/: folder, new\n{0}/bin/run: 10 B, "
                                     "new\n{0}/empty: 0 B, new\n{0}/bin/deep: 4 B, new\n",
                                     Place("app")));
  EXPECT_EQ(ModeOf(Place("app")), 0700U);
  EXPECT_EQ(ModeOf(Place("app/bin/run")), 0755U);
  EXPECT_EQ(Text(Place("app/bin/deep")), "deep");
}

TEST_F(Push, LeavesAFolderThatIsThereAsItIs) {
  std::filesystem::create_directory(Place("app"));
  ::chmod(Place("app").c_str(), 01777);
  EXPECT_EQ(
      Run(PushOf({.files = {Folder("", 0700), Keep("x", "x")}, .tree = true, .to = Place("app")}))
          .code,
      0);
  EXPECT_EQ(ModeOf(Place("app")), 01777U);
}

TEST_F(Push, GoesOnWhereTheConnectionBroke) {
  const std::string content = Pattern(2'000'000);
  const FileEntry entry = Keep(content);
  const auto whole = serve_;
  Serve([&](net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange) {
    if (asked_.size() > 1) return whole(std::move(request), std::move(exchange));
    exchange->BeginSized(206, {}, content.size());
    exchange->Write(content.substr(0, 1'000'000));
    // Let go of once it is sent: the connection breaks.
    auto* asked = exchange.get();
    asked->OnRoom(1, [exchange = std::move(exchange)] {});
  });
  const auto outcome = Run(PushOf({.files = {entry}, .to = Place("big")}));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("trying again"));
  EXPECT_TRUE(Text(Place("big")) == content);
  EXPECT_THAT(Asked(), ElementsAre("GET bytes=0-1999999", "GET bytes=1000000-1999999"));
  Stop();
}

TEST_F(Push, GoesOnWhereAKilledTaskStood) {
  const std::string content = Pattern(2'000'000);
  const FileEntry entry = Keep(content);
  const auto whole = serve_;
  std::shared_ptr<net::HttpExchange> held;
  Serve([&](net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange) {
    if (asked_.size() > 1) return whole(std::move(request), std::move(exchange));
    exchange->BeginSized(206, {}, content.size());
    exchange->Write(content.substr(0, 1'000'000));
    signal_.Update([&] { held = std::move(exchange); });
  });
  const Command command = PushOf({.files = {entry}, .to = Place("big")});
  const std::string output = (folder_.Path() / "killed").string();
  const pid_t pid = Begin(command, output);
  const auto part = Data() / "files" / (ToHex(entry.sha256) + ".part");
  const auto deadline = std::chrono::steady_clock::now() + net::kPatience;
  std::error_code ignored;
  while (std::filesystem::file_size(part, ignored) != 1'000'000 &&
         std::chrono::steady_clock::now() < deadline)
    ::poll(nullptr, 0, 5);
  ::kill(pid, SIGKILL);
  EXPECT_EQ(Await(pid, output).code, -SIGKILL);
  EXPECT_FALSE(std::filesystem::exists(Place("big")));
  EXPECT_EQ(Run(command).code, 0);
  EXPECT_TRUE(Text(Place("big")) == content);
  EXPECT_EQ(Asked().back(), "GET bytes=1000000-1999999");
  held.reset();
  Stop();
}

TEST_F(Push, ThrowsAwayWhatHasAnotherHash) {
  const FileEntry entry = Keep("right");
  Write(Place("a"), "old");
  std::filesystem::create_directories(Data() / "files");
  Write(Data() / "files" / (ToHex(entry.sha256) + ".part"), "wro");
  const Command command = PushOf({.files = {entry}, .to = Place("a")});
  auto outcome = Run(command);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("another SHA-256"));
  EXPECT_EQ(Text(Place("a")), "old");
  EXPECT_EQ(Run(command).code, 0);
  EXPECT_EQ(Text(Place("a")), "right");
}

TEST_F(Push, SaysWhatIsWrong) {
  const FileEntry entry = Keep("x");
  struct Case {
    FilePush push;
    std::string said;
  };
  Write(Place("file"), "");
  for (const auto& [push, said] : {
           Case{{.files = {entry}, .to = Place("none/a")}, "folder " + Place("none") + " does not"},
           Case{{.files = {entry}, .to = Place()}, "write " + Place() + "/ to put the file into"},
           Case{{.files = {entry}, .to = "relative"}, "must begin with /"},
           Case{{.files = {entry}, .to = Place() + "/"}, "no name to keep"},
           Case{{.files = {entry}, .to = Place("a"), .owner = "nobody-here"},
                "user 'nobody-here' does not exist"},
           Case{{.files = {entry}, .to = Place("a"), .owner = ":nogroup-here"},
                "group 'nogroup-here' does not exist"},
           Case{{.files = {Folder("")}, .tree = true, .to = Place("file")}, "is not a folder"},
           Case{{.files = {Keep("x", "../up")}, .tree = true, .to = Place("t")}, "no path below"},
           Case{{.files = {{"", crypto::Sha256("unknown"), 7, 0644, false}}, .to = Place("a")},
                "there is no artifact"},
       }) {
    const auto outcome = Run(PushOf(push));
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr(said));
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(Push, IsRefusedWithoutAnOpenTask) {
  may_get_ = false;
  const auto outcome = Run(PushOf({.files = {Keep("x")}, .to = Place("a")}));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("no open task"));
}

TEST_F(Push, WaitsForAServerThatIsAway) {
  const std::string content = Pattern(100'000);
  const FileEntry entry = Keep(content);
  const auto whole = serve_;
  Serve([&](net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange) {
    if (asked_.size() > 2) return whole(std::move(request), std::move(exchange));
    exchange->Respond({503, {}, R"({"error":{"message":"the server is too busy"}})"});
  });
  const auto outcome = Run(PushOf({.files = {entry}, .to = Place("a")}));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "trying again: the server is too busy\n");
  EXPECT_TRUE(Text(Place("a")) == content);
  Stop();
}

class RootPush : public Push {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    Push::SetUp();
    ::chmod(folder_.Path().c_str(), 0755);
  }
  static uid_t OwnerOf(const std::string& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 ? status.st_uid : 12345;
  }
};

TEST_F(RootPush, GivesTheFileToItsOwner) {
  const auto outcome = Run(
      PushOf({.files = {Keep("x")}, .to = Place("a"), .mode = 04755, .owner = "nobody:nogroup"}));
  EXPECT_EQ(outcome.err, "");
  struct stat status{};
  ASSERT_EQ(::stat(Place("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 65534U);
  EXPECT_EQ(status.st_gid, 65534U);
  EXPECT_EQ(status.st_mode & 07777U, 04755U);
}

TEST_F(RootPush, HasOnlyTheRightsOfTheTasksUser) {
  Command command = PushOf({.files = {Keep("x")}, .to = Place("a")});
  command.user = "nobody";
  auto outcome = Run(command);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("Permission denied"));
  ::chmod(Place().c_str(), 0777);
  outcome = Run(command);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(OwnerOf(Place("a")), 65534U);
  EXPECT_EQ(Text(Place("a")), "x");
  EXPECT_TRUE(std::filesystem::is_empty(Data() / "files"));
}

TEST_F(RootPush, AUserCannotGiveAwayFiles) {
  ::chmod(Place().c_str(), 0777);
  Command command = PushOf({.content = "x", .to = Place("a"), .owner = "root"});
  command.user = "nobody";
  const auto outcome = Run(command);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("Operation not permitted"));
  EXPECT_TRUE(std::filesystem::is_empty(Place())) << "nothing is left behind";
}

}  // namespace
}  // namespace muster::agent
