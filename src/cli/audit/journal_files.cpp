#include "cli/audit/journal_files.hpp"

#include <fstream>

#include "cli/terminal/output.hpp"

namespace muster::cli {

Result<> ReadJournal(const std::string& path, checks::JournalChecker& checker) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail(ErrorCode::kNotFound, "--journal {}: cannot read it", path);
  std::string line;
  for (std::uint64_t number = 1; std::getline(file, line); ++number) {
    const auto entry = checks::ParseJournalLine(line);
    if (entry) {
      checker.Read(*entry, path);
      continue;
    }
    if (file.eof()) break;
    return Fail(ErrorCode::kInvalid, "--journal {}, line {}: {}", path, number,
                entry.error().message);
  }
  return {};
}

checks::JournalRow JournalRowOf(const boost::json::value& row) {
  checks::JournalRow result;
  result.key = {.run = ParseRunId(TextOf(row, "run")).value_or(RunId()),
                .visit = Visit(static_cast<std::uint32_t>(NumberOf(row, "visit"))),
                .ordinal = static_cast<std::uint32_t>(NumberOf(row, "ordinal")),
                .host = HostId(static_cast<std::uint64_t>(NumberOf(row, "host_id"))),
                .attempt = Attempt(static_cast<std::uint32_t>(NumberOf(row, "attempt")))};
  result.host = TextOf(row, "host");
  result.store = TextOf(row, "store");
  result.state = ParseTaskState(TextOf(row, "state")).value_or(TaskState::kSent);
  result.sent_term = Term(static_cast<std::uint64_t>(NumberOf(row, "sent_term")));
  const auto& end = FieldOf(row, "end");
  if (!end.is_object()) return result;
  result.end =
      checks::JournalEnd{.state = ParseTaskState(TextOf(end, "state")).value_or(TaskState::kFailed),
                         .exit_code = static_cast<int>(NumberOf(end, "exit_code")),
                         .signal = static_cast<int>(NumberOf(end, "signal"))};
  result.started = ParseTime(TextOf(end, "started"));
  return result;
}

}  // namespace muster::cli
