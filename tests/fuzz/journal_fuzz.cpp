#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "checks/journal.hpp"

using namespace muster;

// Lines of a file that anybody may have written: they are refused or taken, and what is taken can
// be checked.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  checks::JournalChecker checker(10);
  std::uint64_t taken = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto entry = checks::ParseJournalLine(line);
    if (!entry) {
      MUSTER_CHECK(entry.error().code == ErrorCode::kInvalid && !entry.error().message.empty());
      continue;
    }
    checker.Read(*entry, "fuzz");
    checker.RunRead(entry->task.run);
    ++taken;
  }
  checker.Finish();
  MUSTER_CHECK(checker.lines() == taken);
  MUSTER_CHECK(checker.findings().list().size() + checker.findings().more() <= 3 * taken);
  return 0;
}
