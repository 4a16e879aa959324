#include "server/keeping/moved.hpp"

#include "base/text.hpp"
#include "server/certificates/certificates.hpp"

namespace muster::server {

Result<> MarkMoved(const std::filesystem::path& data, WallTime now) {
  return WriteSecret(data / kMovedMark, FormatTime(now) + "\n");
}

Result<> CheckNotMoved(const std::filesystem::path& data) {
  const auto mark = ReadWhole(data / kMovedMark);
  if (!mark) return {};
  return Fail(ErrorCode::kConflict,
              "the records in {} were copied into PostgreSQL at {} and go on there: set "
              "store.postgres (--config). Only if no server ever started on the copy, remove {} to "
              "go on from here",
              data.string(), Trim(*mark), (data / kMovedMark).string());
}

}  // namespace muster::server
