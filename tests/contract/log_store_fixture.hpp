#pragma once

#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/crypto/digest.hpp"
#include "adapters/memory/memory_log_store.hpp"
#include "adapters/postgres/postgres_log_store.hpp"
#include "adapters/sqlite/sqlite_log_store.hpp"
#include "ports/log_store.hpp"
#include "support/postgres.hpp"
#include "support/temp_folder.hpp"

namespace muster {

inline const TaskKey kTask{
    .run = RunId(12), .visit = Visit(1), .ordinal = 4, .host = HostId(7), .attempt = Attempt(1)};

inline LogChunk Out(std::uint64_t offset, std::string data) {
  return {.task = kTask,
          .offset = offset,
          .stream = Stream::kStdout,
          .time = {1000},
          .data = std::move(data)};
}
inline LogChunk Err(std::uint64_t offset, std::string data) {
  LogChunk chunk = Out(offset, std::move(data));
  chunk.stream = Stream::kStderr;
  return chunk;
}
inline LogTotals TotalsOf(const std::string& out, const std::string& err) {
  return {.bytes = out.size() + err.size(),
          .dropped = 0,
          .gap = false,
          .stdout_sha256 = crypto::Sha256(out),
          .stderr_sha256 = crypto::Sha256(err)};
}

// A clock that stands where it is put.
class StandingClock final : public Clock {
 public:
  Now Read() const override { return {.wall = wall, .mono = {}}; }
  WallTime wall{1'763'200'000'000};  // 2025-11-15
};

// A disk of one adapter; opened again it has what was durable.
class LogDisk {
 public:
  virtual ~LogDisk() = default;
  virtual LogStore* Open() = 0;
};

class MemoryLogDisk final : public LogDisk {
 public:
  LogStore* Open() override { return &store_; }

 private:
  MemoryLogStore store_;
};

class SqliteLogDisk final : public LogDisk {
 public:
  LogStore* Open() override {
    store_.reset();
    auto opened = SqliteLogStore::Open(folder_.Path(), clock_);
    EXPECT_TRUE(opened) << opened.error().message;
    store_ = std::move(*opened);
    return store_.get();
  }
  StandingClock& Clock() { return clock_; }
  const TempFolder& Folder() const { return folder_; }

 private:
  TempFolder folder_;
  StandingClock clock_;
  std::unique_ptr<SqliteLogStore> store_;
};

class PostgresLogDisk final : public LogDisk {
 public:
  LogStore* Open() override {
    store_.reset();
    store_ = OpenAnother();
    return store_.get();
  }
  // Another server's.
  std::unique_ptr<LogStore> OpenAnother() {
    auto opened = PostgresLogStore::Open({.address = address_}, clock_);
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }
  StandingClock& Clock() { return clock_; }
  const std::string& Address() const { return address_; }

 private:
  std::string address_ = SharedPostgres().NewSchema();
  StandingClock clock_;
  std::unique_ptr<LogStore> store_;
};

inline Result<> AppendTo(LogStore& store, std::vector<LogChunk> chunks) {
  std::promise<Result<>> answer;
  store.Append(std::move(chunks), [&](Result<> result) { answer.set_value(std::move(result)); });
  return answer.get_future().get();
}
inline Result<LogMark> FinishIn(LogStore& store, const TaskKey& task, LogTotals totals) {
  std::promise<Result<LogMark>> answer;
  store.Finish(task, std::move(totals),
               [&](Result<LogMark> result) { answer.set_value(std::move(result)); });
  return answer.get_future().get();
}
// All of a task's output, read in small pieces.
inline std::string TextOf(LogStore& store, const TaskKey& task) {
  std::string text;
  while (true) {
    const auto chunks = store.Read(task, text.size(), 100'000);
    EXPECT_TRUE(chunks) << chunks.error().message;
    if (!chunks || chunks->empty()) return text;
    for (const auto& chunk : *chunks) {
      EXPECT_EQ(chunk.offset, text.size());
      text += chunk.data;
    }
  }
}

struct LogAdapter {
  std::string name;
  std::function<std::unique_ptr<LogDisk>()> make;
};

class LogStoreContract : public testing::TestWithParam<LogAdapter> {
 protected:
  void Append(std::vector<LogChunk> chunks) {
    const auto done = AppendTo(*store_, std::move(chunks));
    ASSERT_TRUE(done) << done.error().message;
  }
  Result<LogMark> Finish(LogTotals totals, const TaskKey& task = kTask) {
    return FinishIn(*store_, task, std::move(totals));
  }
  std::string Text(const TaskKey& task) { return TextOf(*store_, task); }
  void Reopen() { store_ = disk_->Open(); }

  std::unique_ptr<LogDisk> disk_ = GetParam().make();
  LogStore* store_ = disk_->Open();
};

}  // namespace muster
