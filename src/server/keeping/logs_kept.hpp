#pragma once

#include <cstdint>
#include <string_view>

#include "base/instant.hpp"

namespace muster::server {

// Why the output of an ended task is not there any more.
enum class LogLoss : std::uint8_t { kNone, kRetention, kRestore };

// "" of kNone.
constexpr std::string_view Name(LogLoss loss) {
  switch (loss) {
    case LogLoss::kNone:
      return "";
    case LogLoss::kRetention:
      return "retention";
    case LogLoss::kRestore:
      return "restore";
  }
  return "";
}

// Which output is still there. Moments of zero drop nothing.
struct LogsKept {
  WallTime since = {};            // retention drops the days before
  WallTime restored = {};         // a restore without output; what had ended before it lacks that
  WallTime since_at_backup = {};  // `since`, when the backup of that restore was taken

  LogLoss LossOf(WallTime ended) const {
    if (ended < restored) return ended < since_at_backup ? LogLoss::kRetention : LogLoss::kRestore;
    return ended < since ? LogLoss::kRetention : LogLoss::kNone;
  }
};

}  // namespace muster::server
