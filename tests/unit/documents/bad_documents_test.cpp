#include <gtest/gtest.h>

#include "base/text.hpp"
#include "support.hpp"

namespace muster::documents {
namespace {

// Each file of tests/documents/bad begins with what is to be said of it:
//   # expect LINE:COLUMN PHRASE
class BadDocument : public testing::TestWithParam<std::string> {};

TEST_P(BadDocument, IsRefusedAtTheRightPlaceInWordsThatHelp) {
  const std::string text = FileText(GetParam());
  const std::string_view first = Split(text, '\n').front();
  constexpr std::string_view kMark = "# expect ";
  ASSERT_TRUE(first.starts_with(kMark));
  const auto space = first.find(' ', kMark.size());
  const auto place = first.substr(kMark.size(), space - kMark.size());
  const auto phrase = Trim(first.substr(space + 1));

  const auto reading = ReadTreeFile(GetParam());
  ASSERT_FALSE(reading.problems.empty());
  const auto& problem = reading.problems.front();
  EXPECT_EQ(fmt::format("{}:{}", problem.position.line, problem.position.column), place)
      << Written(problem);
  EXPECT_NE(problem.sentence.find(phrase), std::string::npos) << Written(problem);
  EXPECT_EQ(reading.problems.size(), 1U) << "and also: " << Written(reading.problems.back());

  const Source source{GetParam(), text};
  const auto all = ReadAll({&source, 1}, ReadBeside);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(all.error().message.starts_with(fmt::format("{}:{}: ", GetParam(), place)));
}

INSTANTIATE_TEST_SUITE_P(Documents, BadDocument, testing::ValuesIn(FilesIn("tests/documents/bad")),
                         [](const auto& info) {
                           std::string name = info.param.substr(info.param.rfind('/') + 1);
                           name.resize(name.size() - 5);
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace muster::documents
