#include "agent/daemon/history_file.hpp"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

class HistoryFileTest : public ::testing::Test {
 protected:
  HistoryFileTest() {
    std::string made = std::filesystem::temp_directory_path() / "muster-history-XXXXXX";
    folder_ = ::mkdtemp(made.data());
  }
  ~HistoryFileTest() override { std::filesystem::remove_all(folder_); }

  std::vector<std::string> Lines() const {
    std::ifstream file(folder_ / "history.jsonl");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  void FollowOne(const std::string& host) const {
    auto file = HistoryFile::Open(folder_ / "history.jsonl");
    ASSERT_TRUE(file) << file.error().message;
    link::Node node({.version = "1", .store = "ab12", .boot = "boot"});
    file->Follow(node, host, "ab12");
    node.Restore(
        {TaskKey{RunId(1), Visit(1), 0, HostId(7), Attempt(1)}, link::HeldState::kRunning, {}}, 0);
  }

  std::filesystem::path folder_;
};

TEST_F(HistoryFileTest, GrowsByALineForEachMoment) {
  FollowOne("web1");
  ASSERT_EQ(Lines().size(), 1U);
  EXPECT_NE(Lines()[0].find(R"("what":"found","host":"web1","store":"ab12")"), std::string::npos);
}

TEST_F(HistoryFileTest, GoesOnBehindWhatItHolds) {
  FollowOne("web1");
  FollowOne("web2");
  ASSERT_EQ(Lines().size(), 2U);
  EXPECT_NE(Lines()[1].find("web2"), std::string::npos);
}

TEST_F(HistoryFileTest, ThatCannotBeWrittenIsAnError) {
  const auto file = HistoryFile::Open(folder_ / "none" / "history.jsonl");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace muster::agent
