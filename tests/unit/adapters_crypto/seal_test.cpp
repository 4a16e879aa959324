#include "adapters/crypto/seal.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "support/temp_folder.hpp"

namespace muster::crypto {
namespace {

class Seal : public testing::Test {
 protected:
  Sealer Open(const std::string& name = "seal.key") {
    auto sealer = Sealer::Open(File(name));
    EXPECT_TRUE(sealer) << sealer.error().message;
    return std::move(*sealer);
  }
  std::filesystem::path File(const std::string& name = "seal.key") { return folder_.Path() / name; }
  std::string Content() {
    std::ifstream file(File());
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void Write(const std::string& text) { std::ofstream(File(), std::ios::trunc) << text; }

 private:
  TempFolder folder_;
};

constexpr std::string_view kName = "db/password";
const std::string kValue("hunter2\0\xff\n", 10);

TEST_F(Seal, OpensUnderItsName) {
  const Sealer sealer = Open();
  const std::string sealed = sealer.Seal(kName, kValue);
  EXPECT_EQ(sealed.find("hunter2"), std::string::npos);
  const auto opened = sealer.Unseal(kName, sealed);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->Reveal(), kValue);
}

TEST_F(Seal, TwiceIsNeverTheSame) {
  const Sealer sealer = Open();
  EXPECT_NE(sealer.Seal(kName, kValue), sealer.Seal(kName, kValue));
}

TEST_F(Seal, AnyChangedBitOrCutFails) {
  const Sealer sealer = Open();
  const std::string sealed = sealer.Seal(kName, kValue);
  for (std::size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    std::string changed = sealed;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(sealer.Unseal(kName, changed)) << "bit " << bit;
  }
  for (std::size_t size = 0; size < sealed.size(); ++size)
    EXPECT_FALSE(sealer.Unseal(kName, sealed.substr(0, size))) << size << " bytes";
  EXPECT_FALSE(sealer.Unseal(kName, sealed + '\0'));
}

TEST_F(Seal, AnotherNameFails) {
  const Sealer sealer = Open();
  const auto opened = sealer.Unseal("db/passwore", sealer.Seal(kName, kValue));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kInvalid);
}

TEST_F(Seal, AnotherKeyFails) {
  const Sealer here = Open("here.key");
  const Sealer there = Open("there.key");
  const auto opened = there.Unseal(kName, here.Seal(kName, kValue));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kNotFound);
}

TEST_F(Seal, KeyFileIsForItsOwnerOnly) {
  Open();
  const auto permissions = std::filesystem::status(File()).permissions();
  EXPECT_EQ(permissions, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(Seal, KeyFileIsReadAgain) {
  const std::string sealed = Open().Seal(kName, kValue);
  const auto opened = Open().Unseal(kName, sealed);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->Reveal(), kValue);
}

TEST_F(Seal, KeyFileThatOthersMayReadIsRefused) {
  Open();
  std::filesystem::permissions(File(), std::filesystem::perms::group_read,
                               std::filesystem::perm_options::add);
  const auto sealer = Sealer::Open(File());
  ASSERT_FALSE(sealer);
  EXPECT_EQ(sealer.error().code, ErrorCode::kInvalid);
}

TEST_F(Seal, DamagedKeyFileIsRefusedAndLeftAlone) {
  Open();
  std::string text = Content();
  text[text.size() - 2] = text[text.size() - 2] == '0' ? '1' : '0';
  for (const std::string& damaged : {text, std::string(), std::string("key ab cd\n"),
                                     Content().substr(0, Content().size() - 10)}) {
    Write(damaged);
    const auto sealer = Sealer::Open(File());
    ASSERT_FALSE(sealer);
    EXPECT_EQ(sealer.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(Content(), damaged);
    Write(text);
  }
}

TEST_F(Seal, RotationKeepsWhatWasSealedBefore) {
  Sealer sealer = Open();
  const std::string before = sealer.Seal(kName, kValue);
  ASSERT_TRUE(sealer.Rotate());
  const std::string after = sealer.Seal(kName, kValue);
  EXPECT_FALSE(sealer.IsCurrent(before));
  EXPECT_TRUE(sealer.IsCurrent(after));
  EXPECT_EQ(sealer.Keys(), 2U);
  const Sealer again = Open();
  EXPECT_EQ(again.Keys(), 2U);
  EXPECT_TRUE(again.IsCurrent(after));
  EXPECT_TRUE(again.Unseal(kName, before));
  EXPECT_TRUE(again.Unseal(kName, after));
}

TEST_F(Seal, RotationThatCannotBeKeptChangesNothing) {
  Sealer sealer = Open();
  const std::string sealed = sealer.Seal(kName, kValue);
  std::filesystem::remove_all(File().parent_path());
  EXPECT_FALSE(sealer.Rotate());
  EXPECT_EQ(sealer.Keys(), 1U);
  EXPECT_TRUE(sealer.IsCurrent(sealer.Seal(kName, kValue)));
  EXPECT_TRUE(sealer.Unseal(kName, sealed));
}

}  // namespace
}  // namespace muster::crypto
