#include "cli/client/answer_json.hpp"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(AnswerJson, IsRead) {
  const auto value = ParseAnswer(R"({"a": [1, "b"]})");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->at("a").as_array().size(), 2U);
}

TEST(AnswerJson, ThatIsNoneIsInvalid) {
  for (const auto* text : {"", "{", "{} x", "<html>"}) {
    const auto value = ParseAnswer(text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().code, ErrorCode::kInvalid) << text;
  }
}

TEST(AnswerJson, OfVeryManySmallValuesHasABound) {
  for (const std::string piece : {"0,", "[],", "{},", "\"\","}) {
    std::string text = "[";
    while (text.size() < 1 << 20) text += piece;
    text += "0]";
    ASSERT_TRUE(ParseAnswer(text)) << piece;
    const auto value = ParseAnswer(text, 4 << 20);
    ASSERT_FALSE(value) << piece;
    EXPECT_EQ(value.error().code, ErrorCode::kInternal) << piece;
  }
}

}  // namespace
}  // namespace muster::cli
