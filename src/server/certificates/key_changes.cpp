#include "server/certificates/key_changes.hpp"

#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "server/certificates/ca_state.hpp"

namespace muster::server {

KeysBefore LookAtKeys(const std::filesystem::path& data) {
  std::error_code ignored;
  KeysBefore keys{.admin_token = std::filesystem::exists(data / "admin.token", ignored),
                  .sealing_key = std::filesystem::exists(data / "seal.key", ignored),
                  .cas = {}};
  if (auto state = ReadCaState(data)) keys.cas = std::move(state->cas);
  return keys;
}

std::vector<std::string> KeyNews(const KeysBefore& before, const Identity& identity) {
  std::vector<std::string> news;
  if (identity.fresh) return news;
  if (!before.admin_token)
    news.emplace_back("made a new admin.token, as there was none; the one before is refused");
  if (!before.sealing_key)
    news.emplace_back(
        "made a new seal.key, as there was none; secrets that were set before cannot be opened: "
        "set them again, or stop musterd and bring the file back from a backup");
  if (!before.cas.empty() && before.cas != identity.ca_ids)
    news.push_back(
        fmt::format("CA {} signs, trusted are {}; at the last start CA {} signed, and "
                    "trusted were {}",
                    identity.ca_ids.front(), fmt::join(identity.ca_ids, ", "), before.cas.front(),
                    fmt::join(before.cas, ", ")));
  return news;
}

}  // namespace muster::server
