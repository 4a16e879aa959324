#include "domain/pulled_line.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace muster {
namespace {

TEST(PulledLine, RoundTripsEveryByteOfAName) {
  PulledLine line{.path = "/", .sha256 = std::string(32, '\xab'), .size = 12, .mode = 0640};
  for (int byte = 1; byte < 256; ++byte) line.path += static_cast<char>(byte);
  line.path += "\u00e4\u20ac\U0001f600";
  const std::string text = FormatPulledLine(line);
  EXPECT_TRUE(IsUtf8(text));
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const auto parsed = ParsePulledLine(text);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed, line);
}

TEST(PulledLine, LeavesOrdinaryNamesReadable) {
  EXPECT_EQ(EscapePath("/var/log/a b-\u00e4.log"), "/var/log/a b-\u00e4.log");
  EXPECT_EQ(EscapePath("a\nb\\"), "a\\x0ab\\x5c");
}

TEST(PulledLine, RefusesOtherLines) {
  const std::string hash(64, 'a');
  EXPECT_TRUE(ParsePulledLine("/a\t" + hash + "\t5\t0644"));
  for (const std::string& text : std::vector<std::string>{
           std::string(), "/a\t" + hash + "\t5", "/a\t" + hash + "\t5\t0649", "/a\tshort\t5\t0644",
           "\t" + hash + "\t5\t0644", "/a\\q\t" + hash + "\t5\t0644",
           "/a\\x\t" + hash + "\t5\t0644", "/a\t" + hash + "\t-5\t0644"})
    EXPECT_FALSE(ParsePulledLine(text)) << text;
}

}  // namespace
}  // namespace muster
