#include <fstream>
#include <sstream>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "adapters/archive/reader.hpp"
#include "adapters/archive/tar.hpp"
#include "adapters/archive/writer.hpp"
#include "support/temp_folder.hpp"

namespace muster::archive {
namespace {

void Write(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}
std::string Read(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}
std::string Noise(std::size_t size) {
  std::string bytes;
  std::uint32_t state = 7;
  while (bytes.size() < size)
    bytes += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

class Archive : public ::testing::Test {
 protected:
  // Two files, one of them larger than any buffer.
  std::filesystem::path Make() {
    Write(folder_.Path() / "small", "hello\n");
    Write(folder_.Path() / "large", large_);
    chmod((folder_.Path() / "small").c_str(), 0644);
    const auto file = folder_.Path() / "backup";
    auto writer = Writer::Create(file);
    EXPECT_TRUE(writer);
    EXPECT_TRUE(writer->Add("small", folder_.Path() / "small"));
    EXPECT_TRUE(writer->Add("logs/large", folder_.Path() / "large"));
    writer->SetFact("taken", "now");
    EXPECT_FALSE(std::filesystem::exists(file)) << "it appears when it is whole";
    EXPECT_TRUE(writer->Finish());
    return file;
  }
  Result<Manifest> Check(const std::filesystem::path& file) { return ReadArchive(file, nullptr); }

  TempFolder folder_;
  const std::string large_ = Noise(3'000'000);
};

TEST_F(Archive, UnpacksWhatWasPacked) {
  const auto file = Make();
  const auto into = folder_.Path() / "into";
  std::filesystem::create_directory(into);
  const auto manifest = ReadArchive(file, &into);
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(manifest->facts.at("taken"), "now");
  EXPECT_EQ(manifest->parts.size(), 2U);
  EXPECT_EQ(Read(into / "small"), "hello\n");
  EXPECT_EQ(Read(into / "logs/large"), large_);
  struct stat about{};
  ASSERT_EQ(stat((into / "small").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0644U);
  ASSERT_EQ(stat(file.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600U);
}

TEST_F(Archive, TruncatedAtAnyPlaceIsRefused) {
  const std::string whole = Read(Make());
  const auto cut = folder_.Path() / "cut";
  for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 37) {
    Write(cut, whole.substr(0, size));
    const auto checked = Check(cut);
    ASSERT_FALSE(checked) << size;
    EXPECT_EQ(checked.error().code, ErrorCode::kInvalid);
  }
  Write(cut, whole.substr(0, whole.size() - 1));
  EXPECT_FALSE(Check(cut));
}

TEST_F(Archive, ChangedByteIsRefused) {
  const std::string whole = Read(Make());
  const auto changed = folder_.Path() / "changed";
  // Before that are zstd's magic and its window's size, which says nothing of the content.
  for (std::size_t at = 6; at < whole.size(); at += 1 + whole.size() / 53) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    Write(changed, bytes);
    const auto checked = Check(changed);
    ASSERT_FALSE(checked) << at;
    EXPECT_EQ(checked.error().code, ErrorCode::kInvalid);
  }
}

TEST_F(Archive, OtherFilesAreRefused) {
  Write(folder_.Path() / "text", "hello");
  EXPECT_EQ(Check(folder_.Path() / "text").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(Check(folder_.Path() / "none").error().code, ErrorCode::kNotFound);
}

TEST_F(Archive, UnfinishedLeavesNothing) {
  {
    auto writer = Writer::Create(folder_.Path() / "backup");
    ASSERT_TRUE(writer);
    EXPECT_FALSE(writer->Add("gone", folder_.Path() / "gone"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.Path()));
}

TEST(Manifest, RefusesNewerFormatsAndNamesThatLeadOutside) {
  EXPECT_TRUE(ParseManifest("muster-backup 1\nfile ab 3 600 logs/x.db\n"));
  EXPECT_FALSE(ParseManifest("muster-backup 2\n"));
  EXPECT_FALSE(ParseManifest("something else\n"));
  EXPECT_FALSE(ParseManifest(""));
  for (const char* name : {"../x", "/etc/x", "a/../../x", "a//b", ""})
    EXPECT_FALSE(ParseManifest(fmt::format("muster-backup 1\nfile ab 3 600 {}\n", name))) << name;
}

TEST(Tar, KeepsSizesPastEightGiB) {
  const TarEntry entry{.name = "muster.db", .size = 1ULL << 36, .mode = 0600};
  const auto parsed = ParseTarHeader(*FormatTarHeader(entry));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->size, entry.size);
  EXPECT_EQ(parsed->name, entry.name);
}

}  // namespace
}  // namespace muster::archive
