#include "domain/audit.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace muster {
namespace {

std::vector<AuditEntry> ChainOf(std::uint64_t count) {
  std::vector<AuditEntry> chain;
  for (std::uint64_t number = 1; number <= count; ++number) {
    AuditEntry entry;
    entry.number = number;
    entry.at = {1000 + static_cast<std::int64_t>(number)};
    entry.actor = "alice";
    entry.address = "10.0.0.7";
    entry.client = "muster/1 a@b";
    entry.act = "run.start";
    entry.object = "r" + std::to_string(number);
    entry.detail = "d";
    entry.reason = "because";
    entry.run = RunId(number);
    entry.hosts = 3;
    entry.names = "web[1-3]";
    entry.command = "uptime";
    entry.command_sha256 = "hash";
    entry.previous = chain.empty() ? "" : chain.back().hash;
    entry.hash = AuditHash(entry);
    chain.push_back(std::move(entry));
  }
  return chain;
}

AuditHead HeadOf(const std::vector<AuditEntry>& chain) {
  return {chain.back().number, chain.back().hash};
}

// The number of the first bad entry, 0 when all is well.
std::uint64_t FirstBad(const std::vector<AuditEntry>& kept, const AuditHead& head) {
  AuditWalk walk;
  for (const auto& entry : kept)
    if (!walk.Take(entry)) return walk.bad();
  walk.Reaches(head);
  return walk.bad();
}

TEST(AuditChain, WholeChainIsGood) {
  const auto chain = ChainOf(5);
  EXPECT_EQ(FirstBad(chain, HeadOf(chain)), 0U);
  EXPECT_EQ(FirstBad({}, {}), 0U);
}

TEST(AuditChain, MayBeginLater) {
  auto chain = ChainOf(5);
  const auto head = HeadOf(chain);
  chain.erase(chain.begin(), chain.begin() + 3);
  EXPECT_EQ(FirstBad(chain, head), 0U);
}

TEST(AuditChain, ChangeOfAnyFieldShows) {
  const std::vector<void (*)(AuditEntry&)> changes{
      [](AuditEntry& e) { e.at.ms ^= 1; },          [](AuditEntry& e) { e.actor = "bob"; },
      [](AuditEntry& e) { e.address += "1"; },      [](AuditEntry& e) { e.client.clear(); },
      [](AuditEntry& e) { e.act = "run.stop"; },    [](AuditEntry& e) { e.object = "r9"; },
      [](AuditEntry& e) { e.detail += "x"; },       [](AuditEntry& e) { e.reason += "x"; },
      [](AuditEntry& e) { e.run.value ^= 1; },      [](AuditEntry& e) { e.hosts ^= 1; },
      [](AuditEntry& e) { e.names = "web1"; },      [](AuditEntry& e) { e.command = "reboot"; },
      [](AuditEntry& e) { e.command_sha256 = ""; }, [](AuditEntry& e) { e.previous[3] ^= 1; },
      [](AuditEntry& e) { e.hash[31] ^= 1; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    SCOPED_TRACE(i);
    auto chain = ChainOf(5);
    changes[i](chain[2]);
    EXPECT_EQ(FirstBad(chain, HeadOf(ChainOf(5))), 3U);
  }
}

TEST(AuditChain, MovedBytesBetweenFieldsShow) {
  AuditEntry one;
  one.actor = "ab";
  one.address = "c";
  AuditEntry two;
  two.actor = "a";
  two.address = "bc";
  EXPECT_NE(AuditHash(one), AuditHash(two));
}

TEST(AuditChain, RemovedEntryShows) {
  for (std::size_t gone = 1; gone < 5; ++gone) {
    auto chain = ChainOf(5);
    const auto head = HeadOf(chain);
    chain.erase(chain.begin() + static_cast<std::ptrdiff_t>(gone));
    EXPECT_EQ(FirstBad(chain, head), gone + 1);
  }
}

TEST(AuditChain, ForgedEntryWithAFittingHashShowsAtTheNext) {
  auto chain = ChainOf(5);
  chain[2].actor = "nobody";
  chain[2].hash = AuditHash(chain[2]);
  EXPECT_EQ(FirstBad(chain, HeadOf(ChainOf(5))), 4U);
}

TEST(AuditChain, RewrittenEndShowsAgainstTheHead) {
  auto chain = ChainOf(5);
  const auto head = HeadOf(chain);
  chain[4].actor = "nobody";
  chain[4].hash = AuditHash(chain[4]);
  EXPECT_EQ(FirstBad(chain, head), 5U);
  EXPECT_EQ(FirstBad({}, head), 5U);
}

TEST(AuditChain, EndsWithWhatWasMade) {
  const auto chain = ChainOf(5);
  const auto after = [&](const AuditEntry* next, const AuditHead& head) {
    AuditWalk walk;
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(walk.Take(chain[i]));
    walk.EndsWith(next, head);
    return walk.bad();
  };
  EXPECT_EQ(after(nullptr, {4, chain[3].hash}), 0U);
  EXPECT_EQ(after(&chain[4], HeadOf(chain)), 0U) << "made meanwhile";
  EXPECT_EQ(after(&chain[4], {4, chain[3].hash}), 5U) << "a row that somebody put there";
}

TEST(AuditChain, GoesOnFromAnEarlierLook) {
  const auto chain = ChainOf(5);
  AuditWalk good({3, chain[2].hash});
  EXPECT_TRUE(good.Take(chain[3]));
  AuditWalk bad({3, chain[1].hash});
  EXPECT_FALSE(bad.Take(chain[3]));
  EXPECT_EQ(bad.bad(), 4U);
}

// Entries of years ago must still fit: this value never changes.
TEST(AuditHash, FormIsFixed) {
  const auto chain = ChainOf(1);
  EXPECT_EQ(ToHex(chain[0].hash),
            "3aec5e86ee5102d2f098bbbb052f3e2d4baa3b32de37bae41d759a599b65f85f");
}

TEST(AuditText, ShowsScriptsAsTheyAreAndWordsQuoted) {
  Command command;
  command.script = "df -h\nuptime\n";
  EXPECT_EQ(AuditText(command), "df -h\nuptime\n");
  Command words;
  words.argv = {"echo", "a b", "it's", "", "x=1"};
  EXPECT_EQ(AuditText(words), "echo 'a b' 'it'\\''s' '' x=1");
}

TEST(AuditText, IsCutBetweenCharactersAndAlwaysText) {
  Command command;
  for (int i = 0; i < 100; ++i) command.script += "ä";
  for (std::size_t most = 1; most < 20; ++most) {
    const auto text = AuditText(command, most);
    EXPECT_TRUE(IsUtf8(text));
    EXPECT_LE(text.size(), most + 3);
  }
  command.script = "\xff\xfe";
  EXPECT_TRUE(IsUtf8(AuditText(command)));
}

// However long the rest of it is.
TEST(AuditText, OfAPushEndsWithOwnerAndMode) {
  const std::vector<std::string> destinations = {"/etc/app", "/etc/" + std::string(400, '/') + "x",
                                                 "/etc/" + std::string(5000, 'x')};
  for (const std::size_t files : {1, 4, 60}) {
    for (const auto& to : destinations) {
      FilePush push;
      push.files.resize(files);
      for (auto& file : push.files) file.path = "some/name";
      push.to = to;
      push.owner = "root";
      push.mode = 04755;
      Command command;
      command.push = std::make_shared<const FilePush>(push);
      for (const std::size_t most : {std::size_t{300}, std::size_t{4096}}) {
        const auto text = AuditText(command, most);
        EXPECT_TRUE(text.starts_with("push some/name (sha256 ")) << text;
        EXPECT_NE(text.find(" to /etc/"), std::string::npos) << text;
        EXPECT_TRUE(text.ends_with(" owner root mode 4755")) << text;
        EXPECT_LE(text.size(), most);
      }
    }
  }
}

TEST(CommandHash, CoversWhatDecidesTheEffect) {
  Command command;
  command.script = "echo $X";
  const auto plain = CommandHash(command);
  auto other = command;
  other.env = {{"X", "1"}};
  EXPECT_NE(CommandHash(other), plain);
  other = command;
  other.stdin_data = "x";
  EXPECT_NE(CommandHash(other), plain);
  other = command;
  other.user = "root";
  EXPECT_NE(CommandHash(other), plain);
  EXPECT_EQ(CommandHash(command), plain);
}

}  // namespace
}  // namespace muster
