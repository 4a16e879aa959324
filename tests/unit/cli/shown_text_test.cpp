#include "cli/terminal/shown_text.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cli/terminal/output.hpp"

namespace muster::cli {
namespace {

TEST(OwnText, ShowsOnlyColoursOfPaint) {
  EXPECT_EQ(OwnText(Paint("failed", Colour::kRed, true) + " \x1b[31mweb\x1b[0m").Bytes(),
            "\x1b[31mfailed\x1b[0m ␛[31mweb␛[0m");
  EXPECT_EQ(OwnText(Paint("failed\x1b[2J", Colour::kRed, false)).Bytes(), "failed␛[2J");
}

TEST(OwnText, PaintedTextCannotUnpaintItself) {
  EXPECT_EQ(OwnText(Paint("a\xff"
                          "0\x1b[0m",
                          Colour::kRed, true))
                .Bytes(),
            "\x1b[31ma�0␛[0m\x1b[0m");
}

TEST(OwnText, EndsAColourWithItsLine) {
  EXPECT_EQ(OwnText("\xff"
                    "1a\nb\xff"
                    "9")
                .Bytes(),
            "\x1b[31ma\x1b[0m\nb�9");
}

TEST(OwnLine, IsOneLine) {
  EXPECT_EQ(OwnLine("thawed: f1 (over\nmuster: all is well)").Bytes(),
            "thawed: f1 (over␊muster: all is well)\n");
}

TEST(CopiedText, IsUnchangedForPrograms) {
  EXPECT_EQ(CopiedText("a\x1b[31m\xff\n", false).Bytes(), "a\x1b[31m\xff\n");
  EXPECT_EQ(CopiedText("a\x1b[31m\xff\n", true).Bytes(), "a␛[31m�\n");
}

TEST(HostOutput, TurnsItsColoursOff) {
  EXPECT_EQ(HostOutput("\x1b[8mhidden", true).Bytes(), "\x1b[8mhidden\x1b[0m");
  EXPECT_EQ(HostOutput("\x1b[8mhidden\n", true).Bytes(), "\x1b[8mhidden\x1b[0m\n");
  EXPECT_EQ(HostOutput("\x1b[2J", true).Bytes(), "␛[2J");
}

TEST(ShownText, IsBrokenBetweenWordsOrRatherBetweenItsParts) {
  EXPECT_EQ(OwnText("one two three four\nfive\n").Broken(10).Bytes(),
            "one two\n  three\n  four\nfive\n");
  EXPECT_EQ(OwnText("r1 failed · 1.2 s and more").Broken(16).Bytes(),
            "r1 failed ·\n  1.2 s and more");
  EXPECT_EQ(OwnText("  averyverylongword b").Broken(10).Bytes(), "  averyverylongword\n    b");
  EXPECT_EQ(OwnText(Paint("grün ü", Colour::kRed, true)).Broken(6).Bytes(),
            OwnText(Paint("grün ü", Colour::kRed, true)).Bytes());
  EXPECT_EQ(OwnText("").Broken(10).Bytes(), "");
}

RC_GTEST_PROP(ShownText, BrokenKeepsEveryWord, (const std::string& bytes)) {
  const auto without = [](const std::string& text) {
    std::string kept;
    for (const char c : text)
      if (c != ' ' && c != '\n') kept += c;
    return kept;
  };
  const auto text = OwnText(bytes);
  RC_ASSERT(without(text.Broken(*rc::gen::inRange(1, 40)).Bytes()) == without(text.Bytes()));
}

TEST(HostStream, KeepsItsColoursToItself) {
  HostStream stream(true);
  EXPECT_EQ(stream.Feed("a\x1b[31mb").Bytes(), "a\x1b[31mb\x1b[0m");
  EXPECT_EQ(stream.Feed("c\x1b[").Bytes(), "\x1b[31mc\x1b[0m");
  EXPECT_EQ(stream.Feed("0md").Bytes(), "\x1b[31m\x1b[0md");
  EXPECT_EQ(stream.Feed("e").Bytes(), "e");
  EXPECT_EQ(stream.Finish().Bytes(), "");
  HostStream pipe(false);
  EXPECT_EQ(pipe.Feed("a\x1b[8m").Bytes(), "a\x1b[8m");
}

RC_GTEST_PROP(OwnText, NeverLetsAnEscapeOfOthersThrough, (const std::string& bytes)) {
  RC_PRE(bytes.find('\xff') == std::string::npos);
  for (const unsigned char c : OwnText(bytes).Bytes())
    RC_ASSERT(c >= 0x20 || c == '\t' || c == '\n');
  for (const unsigned char c : OwnLine(bytes).Bytes().substr(0, OwnLine(bytes).Bytes().size() - 1))
    RC_ASSERT(c >= 0x20 || c == '\t');
}

TEST(Document, EscapesWhatATerminalWouldObey) {
  const boost::json::value value = {{"reason", "a\x1b\x7f\u009b\u202eb\ngrün"}};
  for (const auto format : {Format::kJson, Format::kJsonl, Format::kYaml}) {
    const auto text = Document(value, format);
    EXPECT_NE(text.find(R"("a\u001b\u007f\u009b\u202eb\ngrün")"), std::string::npos) << text;
  }
  EXPECT_EQ(boost::json::parse(JsonLine(value)), value);
}

}  // namespace
}  // namespace muster::cli
