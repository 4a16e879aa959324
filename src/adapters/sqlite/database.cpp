#include "adapters/sqlite/database.hpp"

#include <sqlite3.h>

namespace muster::sqlite {
namespace {

constexpr int kBusyTimeoutMs = 10'000;

constexpr const char* kSettings = R"(
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA temp_store = MEMORY;
  PRAGMA cache_size = -65536;
)";

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement& Statement::Int(std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), ++bound_, value);
  return *this;
}

Statement& Statement::Text(std::string_view value) {
  // A null pointer would bind NULL, and an empty view may hold one.
  sqlite3_bind_text(statement_.get(), ++bound_, value.empty() ? "" : value.data(),
                    static_cast<int>(value.size()), SQLITE_STATIC);
  return *this;
}

Statement& Statement::Blob(std::string_view value) {
  sqlite3_bind_blob(statement_.get(), ++bound_, value.empty() ? "" : value.data(),
                    static_cast<int>(value.size()), SQLITE_STATIC);
  return *this;
}

Statement& Statement::Null() {
  sqlite3_bind_null(statement_.get(), ++bound_);
  return *this;
}

Result<bool> Statement::Step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return Fail(ErrorOf(sqlite3_db_handle(statement_.get())));
}

Result<> Statement::Run() {
  auto stepped = Step();
  Reset();
  if (!stepped) return Fail(stepped.error());
  return {};
}

void Statement::Reset() {
  sqlite3_reset(statement_.get());
  bound_ = 0;
}

std::int64_t Statement::ColumnInt(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::ColumnBytes(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (data == nullptr) return {};
  return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

bool Statement::ColumnIsNull(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

Result<std::unique_ptr<Database>> Database::Open(const std::filesystem::path& file, Mode mode) {
  const int flags =
      SQLITE_OPEN_NOMUTEX | (mode == Mode::kReadWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                                      : SQLITE_OPEN_READONLY);
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Database> database(new Database(handle));
  if (code != SQLITE_OK)
    return Fail(ErrorCode::kUnavailable, "sqlite: open {}: {}", file.string(),
                handle == nullptr ? "out of memory" : sqlite3_errmsg(handle));
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  auto set = mode == Mode::kReadWrite ? database->Execute(kSettings)
                                      : database->Execute("PRAGMA temp_store = MEMORY");
  if (!set)
    return Fail(set.error().code, "sqlite: open {}: {}", file.string(), set.error().message);
  return database;
}

Database::~Database() {
  statements_.clear();
  sqlite3_close_v2(handle_);
}

Result<> Database::Execute(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return Fail(ErrorOf(handle_));
  return {};
}

Result<std::int64_t> Database::AskInt(const char* sql) {
  auto statement = Prepare(sql);
  if (!statement) return Fail(statement.error());
  auto row = (*statement)->Step();
  const std::int64_t value = row && *row ? (*statement)->ColumnInt(0) : 0;
  (*statement)->Reset();
  if (!row) return Fail(row.error());
  return value;
}

Result<Statement*> Database::Prepare(std::string_view sql) {
  std::string text(sql);
  const auto found = statements_.find(text);
  if (found != statements_.end()) {
    found->second.Reset();
    return &found->second;
  }
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK)
    return Fail(ErrorOf(handle_));
  return &statements_.emplace(std::move(text), Statement(statement)).first->second;
}

std::int64_t Database::Changes() const { return sqlite3_changes64(handle_); }

bool Database::InTransaction() const { return sqlite3_get_autocommit(handle_) == 0; }

void Database::Rollback() {
  for (auto& [sql, statement] : statements_) statement.Reset();
  if (InTransaction()) sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
}

void Database::OnWal(std::function<void(int)> grown) {
  grown_ = std::move(grown);
  const auto call = [](void* self, sqlite3*, const char*, int pages) {
    static_cast<Database*>(self)->grown_(pages);
    return SQLITE_OK;
  };
  sqlite3_wal_hook(handle_, call, this);
}

Error ErrorOf(sqlite3* handle) {
  const int code = sqlite3_extended_errcode(handle);
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return {ErrorCode::kUnavailable, "disk is full"};
    case SQLITE_CONSTRAINT:
    case SQLITE_ERROR:
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
    case SQLITE_MISMATCH:
      return {ErrorCode::kInternal, fmt::format("{} ({})", sqlite3_errmsg(handle), code)};
    default:
      return {ErrorCode::kUnavailable, fmt::format("{} ({})", sqlite3_errmsg(handle), code)};
  }
}

bool OutcomeIsOpen(sqlite3* handle) {
  return (sqlite3_extended_errcode(handle) & 0xFF) == SQLITE_IOERR;
}

}  // namespace muster::sqlite
