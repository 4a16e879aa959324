#include "server/keeping/last_backup.hpp"

#include <charconv>

#include "base/text.hpp"
#include "server/certificates/certificates.hpp"

namespace muster::server {
namespace {

constexpr const char* kName = "last_backup";

}  // namespace

Result<> WriteLastBackup(const std::filesystem::path& data, const LastBackup& backup) {
  return WriteSecret(data / kName, fmt::format("{}\n{}\n{}\n", FormatTime(backup.taken),
                                               backup.bytes, backup.file));
}

std::optional<LastBackup> ReadLastBackup(const std::filesystem::path& data) {
  const auto text = ReadWhole(data / kName);
  if (!text) return std::nullopt;
  const auto lines = Split(*text, '\n');
  if (lines.size() < 3) return std::nullopt;
  LastBackup backup;
  backup.taken = ParseTime(lines[0]);
  const auto [end, problem] =
      std::from_chars(lines[1].data(), lines[1].data() + lines[1].size(), backup.bytes);
  backup.file = lines[2];
  if (!backup.taken || problem != std::errc{}) return std::nullopt;
  return backup;
}

}  // namespace muster::server
