#pragma once

namespace muster::sqlite {

// The records, in a server's data folder.
inline constexpr const char* kRecordsFile = "muster.db";

}  // namespace muster::sqlite
