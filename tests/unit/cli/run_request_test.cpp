#include "cli/runs/run_request.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/terminal/output.hpp"

namespace muster::cli {
namespace {

using testing::HasSubstr;

RunOptions Options(std::vector<std::string> words) {
  RunOptions options;
  options.targets = "web*";
  options.words = std::move(words);
  return options;
}

std::string CommandOf(const RunOptions& options, const RunInputs& inputs = {}) {
  const auto body = RunBody(options, inputs);
  EXPECT_TRUE(body) << (body ? "" : body.error().message);
  return body ? boost::json::serialize(FieldOf(*body, "command")) : "";
}

std::string Refusal(const RunOptions& options, const RunInputs& inputs = {}) {
  const auto body = RunBody(options, inputs);
  EXPECT_FALSE(body);
  if (body) return "";
  EXPECT_EQ(body.error().code, ErrorCode::kInvalid);
  return body.error().message;
}

TEST(RunBody, OneWordIsAShellLineSeveralAreArguments) {
  EXPECT_EQ(CommandOf(Options({"a | b"})), R"({"script":"a | b","interpreter":"/bin/sh"})");
  EXPECT_EQ(CommandOf(Options({"echo", "a b", "", "$X"})), R"({"argv":["echo","a b","","$X"]})");
}

TEST(RunBody, RefusesBareShellSignsAmongWords) {
  for (const auto* sign : {"|", "&&", "||", ";", ">", "<", "&"})
    EXPECT_THAT(Refusal(Options({"a", sign, "b"})), HasSubstr("quote the whole line"));
  EXPECT_EQ(CommandOf(Options({"grep", "a|b"})), R"({"argv":["grep","a|b"]})");
}

TEST(RunBody, AScriptTakesTheWordsAsItsArguments) {
  auto options = Options({"--fast", "|"});
  options.script_file = "check.sh";
  EXPECT_EQ(CommandOf(options, {"#!/bin/sh\n", ""}),
            R"({"script":"#!/bin/sh\n","interpreter":"","args":["--fast","|"]})");
  EXPECT_THAT(CommandOf(options, {"\xff", ""}), HasSubstr("script_base64"));
  EXPECT_THAT(Refusal(options), HasSubstr("empty"));
}

TEST(RunBody, NeedsACommandAndTargets) {
  EXPECT_THAT(Refusal(Options({})), HasSubstr("after --"));
  auto options = Options({"true"});
  options.targets = "";
  Refusal(options);
  options.targets = "*";
  EXPECT_THAT(Refusal(options), HasSubstr("write all"));
}

TEST(RunBody, ChecksEveryOption) {
  const auto with = [](auto change) {
    auto options = Options({"true"});
    change(options);
    return options;
  };
  EXPECT_THAT(Refusal(with([](auto& o) { o.timeout = "soon"; })), HasSubstr("--timeout"));
  EXPECT_THAT(Refusal(with([](auto& o) { o.batches = "0"; })), HasSubstr("--batches"));
  EXPECT_THAT(Refusal(with([](auto& o) { o.max_failures = "x"; })), HasSubstr("--max-failures"));
  EXPECT_THAT(Refusal(with([](auto& o) { o.max_output = "x"; })), HasSubstr("--max-output"));
  EXPECT_THAT(Refusal(with([](auto& o) { o.env = {"X"}; })), HasSubstr("--env"));
  EXPECT_THAT(Refusal(with([](auto& o) { o.leftovers = "x"; })), HasSubstr("--leftovers"));
  EXPECT_THAT(Refusal(with([](auto& o) { o.exclude = "("; })), HasSubstr("--exclude"));
  EXPECT_THAT(Refusal(with([](auto& o) { o.memory = "x"; })), HasSubstr("--memory"));
  EXPECT_THAT(Refusal(with([](auto& o) { o.memory = "4k"; })), HasSubstr("--memory"));
  EXPECT_THAT(Refusal(with([](auto& o) { o.cpu = "x"; })), HasSubstr("--cpu"));
  EXPECT_THAT(Refusal(with([](auto& o) { o.cpu = "0"; })), HasSubstr("leave the option out"));
  EXPECT_THAT(Refusal(with([](auto& o) { o.memory = "512"; })), HasSubstr("write 512M or 512G"));
  EXPECT_THAT(Refusal(with([](auto& o) { o.memory = "0"; })), HasSubstr("leave the option out"));
}

TEST(RunBody, CarriesTheOptions) {
  auto options = Options({"true"});
  options.env = {"A=1", "B=x=y"};
  options.timeout = "90s";
  options.batches = "1,10%";
  options.user = "web";
  options.memory = "512M";
  options.cpu = "1.5";
  options.processes = 100;
  const auto body = RunBody(options, {"", "in\xff"});
  ASSERT_TRUE(body);
  EXPECT_EQ(NumberOf(*body, "timeout_ms"), 90'000);
  EXPECT_FALSE(body->as_object().contains("max_output"));  // the server knows how many hosts share
  EXPECT_EQ(TextOf(*body, "batches"), "1,10%");
  EXPECT_EQ(TextOf(*body, "user"), "web");
  EXPECT_EQ(NumberOf(FieldOf(*body, "resources"), "memory"), 512 << 20);
  EXPECT_EQ(FieldOf(*body, "resources").at("cpu").as_double(), 1.5);
  EXPECT_EQ(NumberOf(FieldOf(*body, "resources"), "processes"), 100);
  EXPECT_EQ(TextOf(*body, "stdin_base64"), "aW7/");
  EXPECT_EQ(TextOf(FieldOf(*body, "env"), "B"), "x=y");
}

TEST(RunBody, BoundsScriptAndStdin) {
  EXPECT_THAT(Refusal(Options({"cat"}), {"", std::string((1 << 20) + 1, 'x')}),
              HasSubstr("at most"));
}

}  // namespace
}  // namespace muster::cli
