#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

#include "contract/log_store_fixture.hpp"

namespace muster {
namespace {

constexpr Duration kDay = std::chrono::hours(24);

std::set<std::string> DayFiles(const TempFolder& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.Path() / "logs"))
    if (entry.path().extension() == ".db") names.insert(entry.path().filename().string());
  return names;
}

TEST(SqliteLogStore, OutputOverSeveralDaysIsOne) {
  SqliteLogDisk disk;
  LogStore* store = disk.Open();
  std::string text;
  for (int day = 0; day < 7; ++day) {
    const std::string data = "day " + std::to_string(day) + "\n";
    // Each day sends the end of the day before once more.
    const std::size_t back = std::min<std::size_t>(text.size(), 3);
    ASSERT_TRUE(
        AppendTo(*store, {Out(text.size() - back, text.substr(text.size() - back) + data)}));
    text += data;
    disk.Clock().wall = disk.Clock().wall + kDay;
    if (day % 3 == 2) store = disk.Open();
  }
  EXPECT_EQ(DayFiles(disk.Folder()).size(), 7U);
  EXPECT_TRUE(DayFiles(disk.Folder()).contains("2025-11-15.db"));
  EXPECT_EQ(TextOf(*store, kTask), text);
  store = disk.Open();
  EXPECT_EQ(store->DurableEnd(kTask), text.size());
  EXPECT_TRUE(FinishIn(*store, kTask, TotalsOf(text, "")));
}

TEST(SqliteLogStore, SilentTasksTouchNoDisk) {
  SqliteLogDisk disk;
  LogStore* store = disk.Open();
  ASSERT_TRUE(FinishIn(*store, kTask, TotalsOf("", "")));
  EXPECT_TRUE(DayFiles(disk.Folder()).empty());
}

TEST(SqliteLogStore, ManySmallOutputsFromManyCallers) {
  SqliteLogDisk disk;
  LogStore* store = disk.Open();
  constexpr std::uint64_t kTasks = 2000;
  std::atomic<std::uint64_t> complete = 0;
  std::promise<void> all;
  const auto totals = TotalsOf("hello", "");
  for (std::uint64_t i = 0; i < kTasks; ++i) {
    LogChunk chunk = Out(0, "hello");
    chunk.task.host = HostId(i + 1);
    store->Append({chunk}, [](Result<> done) { EXPECT_TRUE(done); });
    store->Finish(chunk.task, totals, [&](Result<LogMark> mark) {
      EXPECT_TRUE(mark);
      if (++complete == kTasks) all.set_value();
    });
  }
  ASSERT_EQ(all.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
}

std::uintmax_t DiskOf(const TempFolder& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder.Path()))
    if (file.path().extension() == ".db") bytes += file.file_size();
  return bytes;
}

// A host that cuts its output to single bytes, each of another stream and time than the one before
// it, which is the worst for what is kept of them.
TEST(SqliteLogStore, SingleBytesTakeAFewBytesOfDisk) {
  constexpr std::size_t kBytes = 60'000;
  for (const std::size_t together : {kBytes, std::size_t{7}}) {
    SCOPED_TRACE(together);
    std::mt19937_64 random(1);
    SqliteLogDisk disk;
    LogStore* store = disk.Open();
    for (std::size_t at = 0; at < kBytes;) {
      std::vector<LogChunk> chunks;
      for (; chunks.size() < together && at < kBytes; ++at) {
        const std::string byte(1, static_cast<char>(random()));
        chunks.push_back(at % 2 == 0 ? Out(at, byte) : Err(at, byte));
        chunks.back().time = {static_cast<std::int64_t>(random() >> 30)};
      }
      ASSERT_TRUE(AppendTo(*store, std::move(chunks)));
    }
    store = disk.Open();  // closed, the write-ahead log is in the file
    EXPECT_EQ(TextOf(*store, kTask).size(), kBytes);
    EXPECT_LT(DiskOf(disk.Folder()), 9 * kBytes);
  }
}

// Rows of before small chunks were packed, more of them than a read takes at a time.
TEST(SqliteLogStore, ManyRowsAreReadInParts) {
  SqliteLogDisk disk;
  LogStore* store = disk.Open();
  std::string text;
  for (int i = 0; i < 3'000; ++i) {
    // Every second chunk is too large to be packed, so each has its row.
    const std::string data(i % 2 == 0 ? 1 : 4'100, static_cast<char>('a' + i % 26));
    if (i % 1'000 != 999) {
      store->Append({Out(text.size(), data)}, [](Result<> done) { EXPECT_TRUE(done); });
    } else {
      EXPECT_TRUE(AppendTo(*store, {Out(text.size(), data)}));
      disk.Clock().wall = disk.Clock().wall + kDay;
    }
    text += data;
  }
  EXPECT_TRUE(FinishIn(*store, kTask, TotalsOf(text, "")));
  store = disk.Open();
  EXPECT_EQ(store->DurableEnd(kTask), text.size());
  EXPECT_TRUE(TextOf(*store, kTask) == text);
  const auto some = store->Read(kTask, 0, SIZE_MAX);
  ASSERT_TRUE(some);
  EXPECT_EQ(some->back().offset + some->back().data.size(), text.size());
}

// A look between a write and its commit must not make later looks pass over the file.
TEST(SqliteLogStore, OutputIsReadAfterALookThatCameTooEarly) {
  for (int round = 0; round < 20; ++round) {
    SqliteLogDisk disk;
    LogStore* store = disk.Open();
    std::atomic<bool> done = false;
    std::thread reader([&] {
      while (!done) EXPECT_TRUE(store->Read(kTask, 0, 100));
    });
    EXPECT_TRUE(AppendTo(*store, {Out(0, "hello")}));
    done = true;
    reader.join();
    ASSERT_EQ(TextOf(*store, kTask), "hello") << round;
  }
}

}  // namespace
}  // namespace muster
