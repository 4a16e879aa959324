#include "server/api/run_request.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace muster::server::api {
namespace {

Result<RunRequest> Read(const std::string& text, bool* too_large = nullptr) {
  bool large = false;
  auto request = ReadRunRequest(boost::json::parse(text).as_object(), large);
  if (too_large != nullptr) *too_large = large;
  return request;
}

TEST(RunRequest, ReadsACommandWithItsOptions) {
  const auto request =
      Read(R"({"targets":"web*","command":{"argv":["ls","-l"]},"env":{"A":"b"},"timeout_ms":5000,
    "concurrency":7,"batches":"1,10%","max_failures":"2%","leftovers":"kill","stdin_base64":"aGk="})");
  ASSERT_TRUE(request) << request.error().message;
  const StageSpec& stage = request->spec.stages.at(0);
  EXPECT_EQ(CommandOf(stage)->argv, (std::vector<std::string>{"ls", "-l"}));
  EXPECT_EQ(CommandOf(stage)->stdin_data, "hi");
  EXPECT_EQ(CommandOf(stage)->timeout, std::chrono::seconds(5));
  EXPECT_TRUE(CommandOf(stage)->kill_leftovers);
  EXPECT_EQ(stage.concurrency, 7U);
  EXPECT_EQ(stage.batches.sizes.size(), 2U);
  EXPECT_EQ(stage.max_failures, (HostShare{2, true}));
  EXPECT_EQ(request->spec.title, "ls -l");
}

TEST(RunRequest, ReadsLimits) {
  const auto request = Read(R"({"targets":"a","command":{"argv":["x"]},
    "resources":{"memory":536870912,"cpu":1.5,"processes":100}})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(CommandOf(request->spec.stages.at(0))->resources,
            (Resources{.memory = 512 << 20, .cpu = 1500, .processes = 100}));
  const auto none = Read(R"({"targets":"a","command":{"argv":["x"]},"resources":{}})");
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_FALSE(CommandOf(none->spec.stages.at(0))->resources.Any());
  for (const char* text :
       {R"({"memory":-1})", R"({"memory":4096})", R"({"cpu":"1"})", R"({"cpu":0.001})",
        R"({"cpu":-1})", R"({"processes":1.5})", R"({"disk":1})", R"([])"}) {
    const auto refused =
        Read(fmt::format(R"({{"targets":"a","command":{{"argv":["x"]}},"resources":{}}})", text));
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
    EXPECT_NE(refused.error().message.find("resources"), std::string::npos)
        << refused.error().message;
  }
}

TEST(RunRequest, RefusesWhatItDoesNotUnderstand) {
  for (const char* text : {
           R"({"command":{"argv":["true"]}})",                            // no targets
           R"({"targets":"a"})",                                          // no command
           R"({"targets":"a","command":{}})",                             // neither argv nor script
           R"({"targets":"a","command":{"argv":["x"],"script":"y"}})",    // both
           R"({"targets":"a","command":{"argv":[""]}})",                  // no program
           R"({"targets":"a","command":{"argv":["x"]},"timeuot_ms":1})",  // a typing error
           R"({"targets":"a","command":{"argv":["x"],"shell":true}})",    // inside too
           R"({"targets":"a","command":{"argv":["x"]},"timeout_ms":-1})",    // out of range
           R"({"targets":"a","command":{"argv":["x"]},"env":{"A=B":"c"}})",  // not a variable
           R"({"targets":"a","command":{"argv":["x"]},"batches":"0"})",      // never ends
           R"({"targets":"a","command":{"argv":["x"]},"max_failures":"101%"})",
           R"({"targets":"a","command":{"argv":["x"]},"stdin_base64":"%%"})",
           R"({"targets":"a","command":{"argv":["x\u0000y"]}})",
       }) {
    const auto request = Read(text);
    ASSERT_FALSE(request) << text;
    EXPECT_EQ(request.error().code, ErrorCode::kInvalid);
  }
}

TEST(RunRequest, RefusesAnEnvironmentForWhatIsNoProcess) {
  for (const char* what :
       {R"("push":{"content":"x","to":"/tmp/x"})", R"("pull":{"paths":["/x"]})"}) {
    const auto plain = Read(fmt::format(R"({{"targets":"a",{},"env":{{}}}})", what));
    EXPECT_TRUE(plain) << plain.error().message;
    const auto request = Read(fmt::format(R"({{"targets":"a",{},"env":{{"A":"b"}}}})", what));
    ASSERT_FALSE(request) << what;
    EXPECT_EQ(request.error().code, ErrorCode::kInvalid);
  }
}

TEST(RunRequest, RefusesMoreThanAnOrderHolds) {
  bool too_large = false;
  const std::string script(kMaxCommandBytes + 1, 'x');
  EXPECT_FALSE(Read(R"({"targets":"a","command":{"script":")" + script + R"("}})", &too_large));
  EXPECT_TRUE(too_large);
}

TEST(RunRequest, TitleHasAtMost200Characters) {
  const auto titled = [](const std::string& title) {
    return Read(
        fmt::format(R"({{"targets":"a","command":{{"argv":["true"]}},"title":"{}"}})", title));
  };
  std::string umlauts;
  for (int i = 0; i < 200; ++i) umlauts += "ü";
  EXPECT_TRUE(titled(std::string(200, 'T')));
  EXPECT_TRUE(titled(umlauts));
  for (const auto& title : {std::string(201, 'T'), umlauts + "ü", std::string(3'900'000, 'T')}) {
    const auto request = titled(title);
    ASSERT_FALSE(request);
    EXPECT_EQ(request.error().code, ErrorCode::kInvalid);
  }
}

}  // namespace
}  // namespace muster::server::api
