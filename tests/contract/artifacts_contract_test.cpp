#include <fstream>

#include <gtest/gtest.h>

#include "adapters/artifacts/file_artifacts.hpp"
#include "adapters/artifacts/memory_artifacts.hpp"
#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"
#include "support/temp_folder.hpp"

namespace muster {
namespace {

// Stands where it is put. The file system has its own clock for what is written, so it is put near
// that one's time.
class StandingClock final : public Clock {
 public:
  Now Read() const override { return {.wall = wall, .mono = {}}; }
  WallTime wall{
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch())
          .count()};
};

constexpr std::uint64_t kMaxSize = 1 << 20;
const std::string kUploader = "host a";
const std::string kAnother = "host b";

// A place for a store; opened again it has what was there.
struct Place {
  virtual ~Place() = default;
  virtual ArtifactStore& Open() = 0;
  StandingClock clock;
};
struct FilePlace final : Place {
  ArtifactStore& Open() override {
    store.reset();
    auto opened = FileArtifacts::Open(folder.Path() / "artifacts", clock,
                                      {.max_size = kMaxSize, .keep_free = 0});
    EXPECT_TRUE(opened) << opened.error().message;
    store = std::move(*opened);
    return *store;
  }
  TempFolder folder;
  std::unique_ptr<FileArtifacts> store;
};
struct MemoryPlace final : Place {
  ArtifactStore& Open() override { return store; }
  MemoryArtifacts store{clock, 1ULL << 30, kMaxSize};
};

struct Adapter {
  std::string name;
  std::function<std::unique_ptr<Place>()> make;
};

class ArtifactsContract : public testing::TestWithParam<Adapter> {
 protected:
  void Reopen() { store_ = &place_->Open(); }

  Result<> Put(const std::string& content) {
    auto upload = store_->Begin(crypto::Sha256(content), kUploader, content.size(), 0);
    if (!upload) return Fail(upload.error());
    if (auto added = (*upload)->Append(content); !added) return added;
    return (*upload)->Finish();
  }
  std::string Text(const std::string& sha256) {
    auto reader = store_->Open(sha256);
    if (!reader) return "unreadable: " + reader.error().message;
    auto text = (*reader)->Read(0, 1 << 20);
    return text ? *text : "unreadable: " + text.error().message;
  }

  std::unique_ptr<Place> place_ = GetParam().make();
  ArtifactStore* store_ = &place_->Open();
  const std::string content_ = "some content of a file";
  const std::string hash_ = crypto::Sha256(content_);
};

TEST_P(ArtifactsContract, KeepsWhatWasPut) {
  ASSERT_TRUE(Put(content_));
  Reopen();
  const auto found = store_->Find(hash_);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->size, content_.size());
  auto reader = store_->Open(hash_);
  ASSERT_TRUE(reader);
  EXPECT_EQ((*reader)->Size(), content_.size());
  EXPECT_EQ(*(*reader)->Read(5, 7), "content");
  EXPECT_EQ(*(*reader)->Read(18, 100), "file");
  EXPECT_EQ(*(*reader)->Read(1000, 10), "");
}

TEST_P(ArtifactsContract, KeepsTheEmptyFile) {
  ASSERT_TRUE(Put(""));
  EXPECT_EQ(Text(crypto::Sha256("")), "");
}

TEST_P(ArtifactsContract, KnowsNothingOfWhatIsNotThere) {
  EXPECT_FALSE(*store_->Find(hash_));
  EXPECT_EQ(store_->Open(hash_).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(*store_->Uploaded(hash_, kUploader), 0U);
  EXPECT_TRUE(store_->Remove(hash_));
  EXPECT_EQ(store_->Find("short").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(store_->Begin("short", kUploader, 1, 0).error().code, ErrorCode::kInvalid);
}

TEST_P(ArtifactsContract, GoesOnWithAnUploadThatWasCut) {
  {
    auto upload = store_->Begin(hash_, kUploader, content_.size(), 0);
    ASSERT_TRUE(upload);
    ASSERT_TRUE((*upload)->Append(content_.substr(0, 9)));
    EXPECT_EQ((*upload)->Offset(), 9U);
  }
  Reopen();
  EXPECT_FALSE(*store_->Find(hash_)) << "it is not whole";
  EXPECT_EQ(store_->Open(hash_).error().code, ErrorCode::kNotFound);
  ASSERT_EQ(*store_->Uploaded(hash_, kUploader), 9U);
  EXPECT_EQ(store_->Begin(hash_, kUploader, content_.size(), 5).error().code, ErrorCode::kConflict);
  auto upload = store_->Begin(hash_, kUploader, content_.size(), 9);
  ASSERT_TRUE(upload) << upload.error().message;
  EXPECT_EQ((*upload)->Finish().error().code, ErrorCode::kInvalid) << "bytes are missing";
  ASSERT_TRUE((*upload)->Append(content_.substr(9)));
  ASSERT_TRUE((*upload)->Finish());
  EXPECT_EQ(Text(hash_), content_);
  EXPECT_EQ(*store_->Uploaded(hash_, kUploader), 0U);
}

TEST_P(ArtifactsContract, BeginsAnewAtZero) {
  {
    auto upload = store_->Begin(hash_, kUploader, content_.size(), 0);
    ASSERT_TRUE((*upload)->Append("something else"));
  }
  ASSERT_TRUE(Put(content_));
  EXPECT_EQ(Text(hash_), content_);
}

TEST_P(ArtifactsContract, ThrowsAwayWhatHasAnotherHash) {
  {
    auto upload = store_->Begin(hash_, kUploader, 5, 0);
    ASSERT_TRUE((*upload)->Append("other"));
    EXPECT_EQ((*upload)->Finish().error().code, ErrorCode::kInvalid);
  }
  EXPECT_FALSE(*store_->Find(hash_));
  EXPECT_EQ(*store_->Uploaded(hash_, kUploader), 0U);
  EXPECT_TRUE(Put(content_));
}

TEST_P(ArtifactsContract, TakesNoMoreThanWasPromised) {
  auto upload = store_->Begin(hash_, kUploader, 5, 0);
  EXPECT_EQ((*upload)->Append("longer").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(store_->Begin(crypto::Sha256("x"), kUploader, kMaxSize + 1, 0).error().code,
            ErrorCode::kInvalid);
  EXPECT_EQ(store_->Begin(crypto::Sha256("x"), kUploader, 5, 6).error().code, ErrorCode::kInvalid);
}

TEST_P(ArtifactsContract, AnUploaderSendsAHashOnceAtATime) {
  auto first = store_->Begin(hash_, kUploader, content_.size(), 0);
  ASSERT_TRUE(first);
  EXPECT_EQ(store_->Begin(hash_, kUploader, content_.size(), 0).error().code, ErrorCode::kConflict);
  first->reset();
  EXPECT_TRUE(Put(content_));
  EXPECT_TRUE(Put(content_)) << "sent again it is the same";
  EXPECT_EQ(Text(hash_), content_);
}

TEST_P(ArtifactsContract, UploadersDoNotMeet) {
  auto slow = store_->Begin(hash_, kAnother, content_.size(), 0);
  ASSERT_TRUE(slow);
  ASSERT_TRUE((*slow)->Append("not that"));
  EXPECT_EQ(*store_->Uploaded(hash_, kUploader), 0U);
  EXPECT_EQ(*store_->Uploaded(hash_, kAnother), 8U);
  EXPECT_TRUE(Put(content_));
  EXPECT_EQ(Text(hash_), content_);
  ASSERT_TRUE((*slow)->Append(content_.substr(8)));
  EXPECT_EQ((*slow)->Finish().error().code, ErrorCode::kInvalid);
  EXPECT_EQ(Text(hash_), content_) << "another's mistake leaves it";
}

TEST_P(ArtifactsContract, TwoUploadersMayFinishTheSame) {
  auto first = store_->Begin(hash_, kUploader, content_.size(), 0);
  auto second = store_->Begin(hash_, kAnother, content_.size(), 0);
  ASSERT_TRUE(first && second);
  ASSERT_TRUE((*first)->Append(content_));
  ASSERT_TRUE((*second)->Append(content_));
  EXPECT_TRUE((*first)->Finish());
  auto reader = store_->Open(hash_);
  EXPECT_TRUE((*second)->Finish());
  EXPECT_EQ(*(*reader)->Read(0, 100), content_);
  EXPECT_EQ(Text(hash_), content_);
  EXPECT_EQ(store_->List("", 10)->size(), 1U);
  EXPECT_EQ(*store_->Uploaded(hash_, kAnother), 0U);
}

TEST_P(ArtifactsContract, ListsByHashInPages) {
  std::vector<std::string> hashes;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(Put(fmt::format("file {}", i)));
    hashes.push_back(crypto::Sha256(fmt::format("file {}", i)));
  }
  auto part = store_->Begin(hash_, kUploader, 100, 0);
  ASSERT_TRUE((*part)->Append("half"));
  std::ranges::sort(hashes);
  std::vector<std::string> listed;
  for (std::string after;;) {
    const auto page = store_->List(after, 7);
    ASSERT_TRUE(page);
    for (const auto& item : *page) listed.push_back(item.sha256);
    if (page->size() < 7) break;
    after = page->back().sha256;
  }
  EXPECT_EQ(listed, hashes);
}

TEST_P(ArtifactsContract, RemembersTheLastUse) {
  ASSERT_TRUE(Put(content_));
  place_->clock.wall.ms += 3'600'000;
  ASSERT_TRUE(store_->Open(hash_));
  Reopen();
  const auto listed = store_->List("", 10);
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ(listed->front().used, place_->clock.wall);
  EXPECT_EQ(listed->front().size, content_.size());
}

TEST_P(ArtifactsContract, AReaderOutlivesARemove) {
  ASSERT_TRUE(Put(content_));
  auto reader = store_->Open(hash_);
  ASSERT_TRUE(store_->Remove(hash_));
  EXPECT_FALSE(*store_->Find(hash_));
  EXPECT_TRUE(store_->List("", 10)->empty());
  EXPECT_EQ(*(*reader)->Read(0, 100), content_);
}

TEST_P(ArtifactsContract, DropsUploadsNobodyGoesOnWith) {
  const std::string other = crypto::Sha256("other");
  auto held = store_->Begin(other, kUploader, 10, 0);
  ASSERT_TRUE((*held)->Append("oth"));
  {
    auto upload = store_->Begin(hash_, kUploader, content_.size(), 0);
    ASSERT_TRUE((*upload)->Append("some"));
  }
  const WallTime now = place_->clock.wall;
  ASSERT_TRUE(store_->DropUploads(WallTime{now.ms - 3'600'000}));
  EXPECT_EQ(*store_->Uploaded(hash_, kUploader), 4U);
  ASSERT_TRUE(store_->DropUploads(WallTime{now.ms + 3'600'000}));
  EXPECT_EQ(*store_->Uploaded(hash_, kUploader), 0U);
  EXPECT_EQ(*store_->Uploaded(other, kUploader), 3U) << "somebody is at it";
}

INSTANTIATE_TEST_SUITE_P(
    Adapters, ArtifactsContract,
    testing::Values(Adapter{"memory", [] { return std::make_unique<MemoryPlace>(); }},
                    Adapter{"files", [] { return std::make_unique<FilePlace>(); }}),
    [](const auto& info) { return info.param.name; });

TEST(MemoryArtifacts, AFullDiskGivesBackWhatTheUploadTook) {
  StandingClock clock;
  MemoryArtifacts store(clock, 10);
  const std::string hash = crypto::Sha256("content");
  EXPECT_EQ(store.Begin(hash, kUploader, 11, 0).error().code, ErrorCode::kUnavailable);
  auto upload = store.Begin(hash, kUploader, 10, 0);
  auto other = store.Begin(crypto::Sha256("x"), kUploader, 5, 0);
  ASSERT_TRUE((*other)->Append("12345"));
  ASSERT_TRUE((*upload)->Append("1234"));
  EXPECT_EQ((*upload)->Append("5678").error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(*store.Uploaded(hash, kUploader), 0U);
}

TEST(FileArtifacts, RefusesWhatWouldFillTheDisk) {
  TempFolder folder;
  StandingClock clock;
  auto store = FileArtifacts::Open(folder.Path(), clock, {.max_size = ~0ULL, .keep_free = 1 << 20});
  ASSERT_TRUE(store);
  const auto upload = (*store)->Begin(crypto::Sha256("x"), kUploader, 1ULL << 60, 0);
  ASSERT_FALSE(upload);
  EXPECT_EQ(upload.error().code, ErrorCode::kUnavailable);
}

// Bytes that this thread has read from files so far.
std::uint64_t BytesRead() {
  std::ifstream counters("/proc/thread-self/io");
  std::string name;
  std::uint64_t value = 0;
  while (counters >> name >> value)
    if (name == "rchar:") return value;
  ADD_FAILURE() << "no counter of bytes that were read";
  return 0;
}

// A host can resume its upload without end.
TEST(FileArtifacts, ResumesWithoutReadingWhatIsThere) {
  FilePlace place;
  ArtifactStore& store = place.Open();
  const std::string content(kMaxSize, 'x');
  const std::string hash = crypto::Sha256(content);
  const std::size_t most = content.size() - 1;
  ASSERT_TRUE((*store.Begin(hash, kUploader, content.size(), 0))->Append(content.substr(0, most)));
  const std::uint64_t before = BytesRead();
  for (int times = 0; times < 10; ++times)
    ASSERT_TRUE(store.Begin(hash, kUploader, content.size(), most));
  EXPECT_LT(BytesRead() - before, most);
  auto upload = store.Begin(hash, kUploader, content.size(), most);
  ASSERT_TRUE((*upload)->Append("x"));
  EXPECT_TRUE((*upload)->Finish());
  EXPECT_TRUE(*store.Find(hash));
}

TEST(FileArtifacts, AMachineThatLostPowerBeginsAnew) {
  FilePlace place;
  ArtifactStore& store = place.Open();
  const std::string content = "some content of a file";
  const std::string hash = crypto::Sha256(content);
  {
    auto upload = store.Begin(hash, kUploader, content.size(), 0);
    ASSERT_TRUE((*upload)->Append(content.substr(0, 12)));
  }
  // The length was kept and the bytes were not.
  const std::string hex = ToHex(hash);
  const auto folder = place.folder.Path() / "artifacts" / hex.substr(0, 2) / hex.substr(2, 2);
  for (const auto& part : std::filesystem::directory_iterator(folder))
    std::ofstream(part.path(), std::ios::binary) << std::string(12, '\0');
  {
    auto upload = store.Begin(hash, kUploader, content.size(), 12);
    ASSERT_TRUE(upload);
    ASSERT_TRUE((*upload)->Append(content.substr(12)));
    EXPECT_EQ((*upload)->Finish().error().code, ErrorCode::kInvalid);
  }
  EXPECT_EQ(*store.Uploaded(hash, kUploader), 0U);
  EXPECT_FALSE(*store.Find(hash));
}

}  // namespace
}  // namespace muster
