#include "server/auth/refusal_log.hpp"

#include <utility>

namespace muster::server {

std::optional<std::uint64_t> RefusalLog::Admit(MonoTime now) {
  if (now - begun_ >= window_) {
    begun_ = now;
    lines_ = 0;
  }
  if (lines_ == most_) {
    ++left_out_;
    return std::nullopt;
  }
  ++lines_;
  return std::exchange(left_out_, 0);
}

std::string ForLog(std::string_view text, std::size_t most) {
  std::string safe(text.substr(0, most));
  for (char& c : safe) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7e || c == '"' || c == '\\') c = '?';
  }
  return text.size() > most ? safe + "…" : safe;
}

}  // namespace muster::server
