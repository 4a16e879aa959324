#include "adapters/postgres/sqlstate.hpp"

#include <algorithm>
#include <array>

namespace muster::postgres {
namespace {

// By class: connection, resources (disk, memory, connections), operator intervention (shutdown,
// cancelled, statement time-out), and what another session or the system itself did.
constexpr std::array<std::string_view, 3> kLaterClasses = {"08", "53", "57"};
constexpr std::array<std::string_view, 6> kLater = {
    "40001",  // serialization
    "40P01",  // deadlock
    kStateLocked,
    "25P03",  // idle in transaction
    "25006",  // read only: a standby, or a primary that is being demoted
    "58030",  // I/O
};

constexpr std::string_view kDiskFull = "53100";
constexpr std::string_view kNoSchema = "3F000";

}  // namespace

Error ErrorOf(std::string_view state, std::string_view message) {
  if (state == kStateFenced) return {ErrorCode::kFenced, std::string(message)};
  if (state == kDiskFull)
    return {ErrorCode::kUnavailable, fmt::format("the database's disk is full: {}", message)};
  if (state == kStateNoTable || state == kNoSchema)
    return {ErrorCode::kUnavailable,
            fmt::format("the tables are not there (the first leader makes them): {}", message)};
  const bool later = state.empty() || std::ranges::find(kLater, state) != kLater.end() ||
                     std::ranges::find(kLaterClasses, state.substr(0, 2)) != kLaterClasses.end();
  if (later) return {ErrorCode::kUnavailable, std::string(message)};
  return {ErrorCode::kInternal, fmt::format("{} ({})", message, state)};
}

std::string Tidy(std::string_view message, std::string_view secret) {
  std::string out;
  for (const char c : message) out.push_back(c == '\n' || c == '\t' ? ' ' : c);
  while (!out.empty() && out.back() == ' ') out.pop_back();
  if (secret.empty()) return out;
  for (auto at = out.find(secret); at != std::string::npos; at = out.find(secret, at + 3))
    out.replace(at, secret.size(), "***");
  return out;
}

}  // namespace muster::postgres
