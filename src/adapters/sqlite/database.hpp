#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace muster::sqlite {

// A prepared statement. Use from one thread. Text and blobs bound must live until Reset.
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  // Binds the next parameter, counting from the last Reset.
  Statement& Int(std::int64_t value);
  Statement& Id(std::uint64_t value) { return Int(static_cast<std::int64_t>(value)); }
  Statement& Text(std::string_view value);
  Statement& Blob(std::string_view value);
  // A text that is gone before it is read.
  template <std::same_as<std::string> T>
  Statement& Text(T&& value) = delete;
  template <std::same_as<std::string> T>
  Statement& Blob(T&& value) = delete;
  Statement& Null();

  // True when a row is there to read. Errors as ErrorOf says.
  Result<bool> Step();
  // Runs to the end without rows, then Resets.
  Result<> Run();
  void Reset();

  std::int64_t ColumnInt(int column) const;
  std::uint64_t ColumnId(int column) const { return static_cast<std::uint64_t>(ColumnInt(column)); }
  std::string_view ColumnBytes(int column) const;  // until the next Step or Reset
  std::string ColumnText(int column) const { return std::string(ColumnBytes(column)); }
  bool ColumnIsNull(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bound_ = 0;
};

// One connection. Use from one thread at a time.
class Database {
 public:
  enum class Mode { kReadWrite, kReadOnly };
  // Opens the file (making it, for kReadWrite) in WAL mode with synchronous=FULL.
  static Result<std::unique_ptr<Database>> Open(const std::filesystem::path& file, Mode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Result<> Execute(const char* sql);
  Result<std::int64_t> AskInt(const char* sql);  // the first column of the first row
  // Prepared on first use and kept; valid as long as the connection.
  Result<Statement*> Prepare(std::string_view sql);
  std::int64_t Changes() const;  // rows the last statement changed
  bool InTransaction() const;
  void Rollback();  // when a transaction is open
  // Calls `grown` after each commit with the number of pages in the WAL; replaces SQLite's own
  // checkpoints in the committing thread.
  void OnWal(std::function<void(int pages)> grown);
  sqlite3* Handle() { return handle_; }

 private:
  explicit Database(sqlite3* handle) : handle_(handle) {}

  sqlite3* handle_;
  std::unordered_map<std::string, Statement> statements_;
  std::function<void(int)> grown_;
};

// What the connection's last failure means: kUnavailable when it did not happen and may work later
// (full, busy, I/O), kInternal when a constraint or the SQL is wrong.
Error ErrorOf(sqlite3* handle);

// Whether the connection's last failure was I/O of a kind that leaves a COMMIT's outcome open.
bool OutcomeIsOpen(sqlite3* handle);

}  // namespace muster::sqlite
